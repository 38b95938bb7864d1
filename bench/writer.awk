# SPDX-License-Identifier: GPL-2.0-only
#
# -f stats.awk -f writer.awk RAW-FILE
#
# Tables and BENCH lines of bench-writer's RAW lines. Of the repetitions the fastest
# counts: what else the machine does only makes them slower.

function want(x, what) {
	if (!x)
		missing(what)
}

# Sets ns and insn of a sample.
function cost(kind, load, n,	key) {
	key = kind " " load " " n
	median(key " ns")
	ns = low
	want(ns, key)
	median(key " insn")
	insn = low
}

function bench(name, ours, goal, unit) {
	printf "BENCH name=%s ours=%s goal=%s unit=%s\n", name, ours, goal, unit
}

function table(load, head,	i, j, n, line) {
	printf "%s\n\n", head
	printf "%6s", ""
	for (j = 1; j <= kinds; j++)
		printf " | %-29s", name[j]
	printf "\n rings"
	for (j = 1; j <= kinds; j++)
		printf " | %6s %8s %6s %6s", "ns", "M/s", "ratio", "insn"
	print ""
	for (i = 1; i <= sizes; i++) {
		n = size[i]
		line = sprintf("%6d", n)
		for (j = 1; j <= kinds; j++) {
			cost(kind[j], load, size[1])
			one = ns
			cost(kind[j], load, n)
			line = line sprintf(" | %6.1f %8.2f %6.2f %6s", ns, ns ? 1000 / ns : 0,
					    one ? ns / one : 0, insn ? sprintf("%.0f", insn) : "-")
		}
		print line
	}
	print ""
}

$1 == "RAW" {
	n = field("rings")
	key = field("kind") " " field("load") " " n
	if (field("insn") != "")
		keep(key " insn", field("insn") / field("samples"))
	else
		keep(key " ns", field("ns") / field("samples"))
	if (!(n in seen)) {
		seen[n] = 1
		size[++sizes] = n
	}
}

END {
	kinds = split("unpacked packed alone", kind, " ")
	name[1] = "unpacked"
	name[2] = "packed"
	name[3] = "packed, CPUs with own programs"
	table("timely", "A pass every 50 ms: 50 samples in each ring")
	table("late", "Late passes: up to 2500 samples in each ring, which is half of it")
	for (j = 1; j <= kinds; j++) {
		cost(kind[j], "timely", size[1])
		one = ns
		for (i = 1; i <= sizes; i++)
			if (size[i] == 256) {
				cost(kind[j], "timely", 256)
				bench("writer-" kind[j] "-256", sprintf("%.2f", 1000 / ns),
				      kind[j] == "unpacked" ? 6 : 4, "M/s")
				bench("writer-" kind[j] "-256-to-1", sprintf("%.2f", ns / one), 1.5,
				      "ratio")
			}
	}
	exit bad
}
