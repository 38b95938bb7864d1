#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# User chains that come later: samples get them, whatever the order, and only
# those that they belong to.
. "$(dirname "$0")/lib.sh"

# Process 7 has mapped a page each of the files a to e, from 0x1000 on.
{
	echo "kernel 0xffffffff81000000 schedule"
	echo "event cpu-clock 1000"
	echo "proc 7 prog"
	i=1
	for name in a b c d e; do
		echo "map 7 0x$((i++))000 0x1000 0 /nowhere/$name"
	done
	echo since
} >"$tmp/head"
cat >"$tmp/kallsyms" <<-EOF
	ffffffff81000000 T schedule
	ffffffff81000100 T read
	ffffffff81000200 T write
EOF

k1=0xffffffff81000110 k2=0xffffffff81000210

make_log()
{
	cat "$tmp/head" - | "$BIN/script2log" "$1"
}

# joins WANT <SCRIPT: its folded stacks; of a user frame the file's name
joins()
{
	make_log "$tmp/log" || return
	"$pmclog" fold -k "$tmp/kallsyms" "$tmp/log" >"$tmp/.got" || return
	sed -E -i 's/\[([a-e])\][^; ]*/\1/g' "$tmp/.got"
	printf '%s\n' "$1" | diff - "$tmp/.got"
}

ok "kernel part and user chain" joins 'prog;c;b;a;read_[k];write_[k] 2' <<EOF
late 2 7 7 $k2 $k1 0x1010
userchain 7 7 0x1010 0x2020 0x3020
EOF

ok "in user mode" joins 'prog;c;b;a 3' <<EOF
late 3 7 7 0x1010 0x2020
userchain 7 7 0x1010 0x2020 0x3020
EOF

ok "different kernel parts, one answer" joins "prog;c;a;read_[k] 1
prog;c;a;write_[k] 2" <<EOF
late 1 7 7 $k1 0x1010
late 2 7 7 $k2 0x1010
userchain 7 7 0x1010 0x3020
EOF

ok "nothing comes" joins 'prog;a;read_[k] 2' <<EOF
late 2 7 7 $k1 0x1010
EOF

ok "without a sample" joins 'prog;a;read_[k] 1' <<EOF
userchain 7 7 0x1010 0x2020
sample 1 7 $k1 0x1010
userchain 7 7 0x1010 0x2020
EOF

ok "samples without the flag are whole" joins 'prog;b;a 1' <<EOF
sample 1 7 0x1010 0x2020
userchain 7 7 0x1010 0x3020
EOF

ok "another place: there was an exec" joins 'prog;a;read_[k] 1' <<EOF
late 1 7 7 $k1 0x1010
userchain 7 7 0x2010 0x3020
userchain 7 7 0x1010 0x3020
EOF

ok "of another thread" joins "prog;a 1
prog;b;a 1" <<EOF
late 1 8 7 0x1010
late 1 9 7 0x1010
userchain 9 7 0x1010 0x2020
EOF

ok "after the thread's end" joins 'prog;a 1' <<EOF
late 1 8 7 0x1010
threadexit 8
userchain 8 7 0x1010 0x2020
EOF

ok "after the process' end" joins 'prog;a 1' <<EOF
late 1 7 7 0x1010
exit 7
userchain 7 7 0x1010 0x2020
EOF

ok "older samples wait for theirs" joins "prog;b;a 1
prog;c;a 2" <<EOF
late 2 7 7 0x1010
since
late 1 7 7 0x1010
userchain 7 7 0x1010 0x2020
always
userchain 7 7 0x1010 0x3020
EOF

ok "a second one answers nothing" joins 'prog;b;a 1' <<EOF
late 1 7 7 0x1010
userchain 7 7 0x1010 0x2020
userchain 7 7 0x1010 0x3020
EOF

ok "what is mapped when the chain comes" joins 'prog;e;a 1' <<EOF
late 1 7 7 0x1010
map 7 0x9000 0x1000 0 /nowhere/e
userchain 7 7 0x1010 0x9020
EOF

ok "nothing but kernel frames" joins 'prog;read_[k] 1' <<EOF
late 1 7 7 $k1
userchain 7 7 0x1010 0x2020
EOF

ok "no frames at all" joins 'prog;b;a 1' <<EOF
late 1 7 7 0x1010 0x2020
userchain 7 7
EOF

heads()
{
	make_log "$tmp/log" || return
	"$pmclog" report -k "$tmp/kallsyms" "$tmp/log" >"$tmp/.got" || return
	grep -qE -- "$1" "$tmp/.got" || { cat "$tmp/.got"; return 1; }
}

late='Late chains +'
ok "report tells how many" heads "$late"'5 samples of stacks that were not in memory; 2 of them were not completed later$' <<EOF
late 3 7 7 0x1010
userchain 7 7 0x1010 0x2020
late 2 7 7 0x1010
EOF
ok "and that all came" heads "$late"'1 sample of stacks that were not in memory$' <<EOF
late 1 7 7 0x1010
userchain 7 7 0x1010 0x2020
EOF

# peak: kilobytes that the reading of "$tmp/many" takes, as the last look saw them;
# with what the sanitizers keep of memory that was freed turned off
peak()
{
	ASAN_OPTIONS=quarantine_size_mb=0 perl -e '
		open(my $null, ">", "/dev/null");
		my $pid = fork // die;
		if (!$pid) { open(STDOUT, ">", $ARGV[0]); exec(@ARGV[1..$#ARGV]) }
		my $max = 0;
		while (waitpid($pid, 1) == 0) {
			if (open(my $f, "<", "/proc/$pid/status")) {
				/^VmHWM:\s+(\d+)/ and $1 > $max and $max = $1
					while <$f>;
			}
			select(undef, undef, undef, .005);
		}
		print "$max\n"; exit($? != 0);' \
		"$tmp/folded" "$pmclog" fold "$tmp/many"
}

# bounded KILOBYTES: what it takes at most; a short run may end before it has been
# looked at
bounded()
{
	local used=0 i
	for ((i = 0; i < 20 && used <= 1000; i++)); do
		used=$(peak) || return
	done
	echo "$used" >"$tmp/.kb"
	echo "# $used kB"
	((used > 1000 && used < $1))
}

# The same that nobody waits for is what the log itself takes.
few()
{
	make_log "$tmp/many" <<<"late 1 7 7 $k1 $k2 0x1010" || return
	bounded 1000000 && least=$(cat "$tmp/.kb")
}
ok "what a small log takes" few

one_thread()
{
	make_log "$tmp/many" <<<"late 3000000 7 7 $k1 $k2 0x1010" || return
	bounded $((least + 60000)) && grep -q ' 3000000$' "$tmp/folded"
}
ok "millions wait, of one thread" one_thread

many_threads()
{
	for ((i = 1; i <= 2000; i++)); do
		echo "late 1000 $i 7 $k1 $k2 0x1010"
	done | { cat; echo "userchain 2000 7 0x1010 0x2020"; } |
		make_log "$tmp/many" || return
	bounded $((least + 120000)) &&
		[ "$(sed 's/.* //' "$tmp/folded" | sort -n | xargs)" = \
		  "1000 1999000" ]
}
ok "of many threads; the last still get theirs" many_threads
rm -f "$tmp/many"

done_testing
