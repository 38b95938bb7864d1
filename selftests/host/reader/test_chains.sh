#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Chains that have callers in common, of all lengths, and what changes between
# them: against what was made up.
. "$(dirname "$0")/lib.sh"

kallsyms reference f{1..40}

# make SAMPLES: a log's text; what is sampled goes to $tmp/truth: for each sample
# its command and its functions, from the outermost on. Longer ways have shorter
# ones as their beginning, some call themselves, and some are longer than what is
# looked up at once. Processes are renamed meanwhile.
make()
{
	awk -v n="$1" -v k="$k" -v truth="$tmp/truth" 'BEGIN {
		srand(7)
		print "host 9.9.9-test elsewhere"
		print "kernel " k " reference"
		print "event cpu-clock 1000000"
		for (pid = 1; pid <= 3; pid++) {
			name[pid] = "p" pid
			print "proc", pid, name[pid]
		}
		for (s = 0; s < n; s++) {
			pid = 1 + int(3 * rand())
			if (rand() < 0.02) {
				name[pid] = "q" int(4 * rand())
				print "proc", pid, name[pid]
			}
			way = int(6 * rand())
			depth = 1 + int(rand() < 0.1 ? 150 * rand() : 12 * rand())
			pcs = ""
			line = name[pid]
			for (i = 0; i < depth; i++) {
				f = 1 + (way * 7 + i * (way % 3)) % 40
				if (i + 1 == depth)
					f = 1 + int(40 * rand())
				# a caller is where it returns to
				pcs = sprintf("%s+%#x", k, f * 4096 + 16 * (1 + i % 3)) " " pcs
				line = line ";f" f "_[k]"
			}
			print "sample 1", pid, pcs
			print line >truth
		}
	}'
}

make 3000 | log many
ok "a log of 3000 samples" [ "$(wc -l <"$tmp/truth")" = 3000 ]

fold_is_true()
{
	sort "$tmp/truth" | uniq -c | awk '{ print $2, $1 }' | LC_ALL=C sort |
		diff - <("$pmclog" fold -k "$tmp/kallsyms" "$tmp/many")
}
ok "each chain is counted for what it is" fold_is_true

# whoever is told of each sample gets them one by one
csv_is_true()
{
	"$pmclog" export --to csv -k "$tmp/kallsyms" "$tmp/many" |
		awk -F, 'NR > 1 { gsub(/"/, ""); print $5 ";" $11 }' |
		sed 's/;\(f[0-9]*\)/;\1_[k]/g' | diff "$tmp/truth" -
}
ok "in the order of the log" csv_is_true

# flat_is_true KEYS COLUMNS <TRUTH: self and total of each function, and command unless
# that is "all", counted sample by sample
flat_is_true()
{
	awk -F';' '{
		self[$1 " " $NF]++
		split("", seen)
		for (i = 2; i <= NF; i++)
			if (!seen[$i]++)
				total[$1 " " $i]++
	} END {
		for (who in self)
			printf "%.2f %.2f %s\n", 100 * self[who] / NR,
				100 * total[who] / NR, who
	}' | sed 's/_\[k\]//; s/ all / /' | LC_ALL=C sort |
		diff - <("$pmclog" report --flat -l 0 --sort "$1" \
			-k "$tmp/kallsyms" "$tmp/many" |
			profile_rows | cut -d ' ' -f "$2" | LC_ALL=C sort)
}
ok "self and total of each function" flat_is_true comm,sym 1,2,4,5 <"$tmp/truth"
# the same without commands: what they have in common is added up
ok "and of all commands" flat_is_true sym 1,2,4 < <(sed 's/^[^;]*/all/' "$tmp/truth")

# what is mapped where changes with every other sample
{
	echo "host 9.9.9-test elsewhere"
	echo "event cpu-clock 1000000"
	echo "proc 5 prog"
	for i in {1..50}; do
		echo "map 5 0x400000 0x1000 0 /lib/odd$((i % 2)).so"
		echo "sample 1 5 0x400100 0x400200 0x400300"
	done
} | log maps

maps_are_true()
{
	printf 'prog;[odd%d.so];[odd%d.so];[odd%d.so] 25\n' 0 0 0 1 1 1 |
		diff - <("$pmclog" fold "$tmp/maps")
}
ok "a sample belongs to what was mapped when it was taken" maps_are_true

done_testing
