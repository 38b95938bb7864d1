# SPDX-License-Identifier: GPL-2.0-only
#
# awk -f stats.awk -f scaling.awk RAW-FILE
#
# Tables and BENCH lines of bench-scaling's RAW lines: medians.

# The median, or "" without values
function typical(key) {
	return median(key) ? med : ""
}

function show(x, format) {
	return x == "" ? "-" : sprintf(format, x)
}

function per_sample(key, base) {
	if (base == "" || !count[key " ns"] || !typical(key " samples"))
		return ""
	return (typical(key " ns") - base) / typical(key " samples")
}

function want(x, what) {
	if (x == "")
		missing(what)
}

$1 == "RAW" {
	part = field("part"); rec = field("rec"); n = field("n")
	key = part " " rec " " n
	for (i = 2; i <= NF; i++) {
		split($i, pair, "=")
		keep(key " " pair[1], pair[2])
	}
	if (!((part, n) in seen)) {
		seen[part, n] = 1
		list[part] = list[part] " " n
	}
}

# Recordings of many processes begin long before the work: count only samples in its
# time.
function in_window(key,	i) {
	for (i = 1; i <= count[key " ns"]; i++)
		value[key " samples", i] = int(6400 * value[key " ns", i] / 1e9)
}

# The cost of a sample against n; TITLE says what n is.
function curve(part, title, peer,	ns, i, k, base, ours, perf, ratio, cpu, last) {
	k = split(list[part], ns, " ")
	if (!k)
		return
	print ""
	print title
	printf "%8s %12s %12s %7s %10s %10s %10s %10s\n", "n", "insn/sample", "perf's", "ratio",
		"writer", "samples", "lost", peer ? "lost, perf" : "KiB each"
	for (i = 1; i <= k; i++) {
		n = ns[i]
		base = typical(part " bare " (count[part " bare " n " ns"] ? n : 1) " ns")
		want(base, part " " n " bare")
		if (part == "processes") {
			in_window(part " ours " n)
			in_window(part " perf " n)
		}
		ours = per_sample(part " ours " n, base)
		perf = per_sample(part " perf " n, base)
		want(ours, part " " n)
		if (peer)
			want(perf, part " " n " perf")
		ratio = ours != "" && perf != "" && perf != 0 ? sprintf("%.2f", ours / perf) : "-"
		if (peer)
			last = show(typical(part " perf " n " lost"), "%d")
		else
			last = show(typical(part " ours " n " memory_kb") / (part == "owners" ? n : 1), "%d")
		cpu = ours == "" ? 0 : typical(part " ours " n " cpu") / typical(part " ours " n " ns")
		printf "%8d %12s %12s %7s %9.2f%% %10s %10s %10s\n", n, show(ours, "%.0f"),
			show(perf, "%.0f"), ratio, 100 * cpu, show(typical(part " ours " n " samples"), "%d"),
			show(typical(part " ours " n " lost"), "%d"), last
		line[++nline] = sprintf("BENCH name=scaling.%s.%d ours=%s peer=%s ratio=%s unit=instructions/sample",
			part, n, show(ours, "%.1f"), show(perf, "%.1f"), ratio)
	}
}

function sessions(	ns, i, k, ours, perf) {
	k = split(list["sessions"], ns, " ")
	if (!k)
		return
	print ""
	print "A recording of nothing among n processes, from start to end: microseconds of the machine, and bytes"
	printf "%8s %12s %12s %7s %12s %12s\n", "n", "ours", "perf's", "ratio", "bytes", "perf's"
	for (i = 1; i <= k; i++) {
		n = ns[i]
		ours = typical("sessions ours " n " ns") / 1000
		perf = typical("sessions perf " n " ns") / 1000
		printf "%8d %12.0f %12.0f %7.3f %12d %12d\n", n, ours, perf, ours / perf,
			typical("sessions ours " n " size"), typical("sessions perf " n " size")
		line[++nline] = sprintf("BENCH name=scaling.session.%d ours=%.0f peer=%.0f ratio=%.4f unit=us",
			n, ours, perf, ours / perf)
	}
}

# The cost of an event in a process that is not sampled, by the number of owners
# that sample others.
function others(	kinds, ns, i, j, k, m, kind, n, cost, one) {
	k = split("fork exec mmap switch", kinds, " ")
	m = split(list["targets"], ns, " ")
	if (!m)
		return
	print ""
	print "Owners with 2048 targets each: instructions of an event of another process"
	printf "%8s", "n"
	for (i = 1; i <= k; i++)
		printf " %12s %9s", kinds[i], "of n=1"
	print ""
	for (j = 1; j <= m; j++) {
		n = ns[j]
		printf "%8d", n
		for (i = 1; i <= k; i++) {
			kind = "targets " kinds[i]
			want(typical(kind " " n " ns"), kind " " n)
			cost = typical(kind " " n " ns") / typical(kind " " n " amount")
			one = typical(kind " 1 ns") / typical(kind " 1 amount")
			printf " %12.0f %+8.2f%%", cost, 100 * (cost / one - 1)
			line[++nline] = sprintf("BENCH name=scaling.targets.%s.%d ours=%.1f peer=%.1f ratio=%.4f unit=instructions/event",
				kinds[i], n, cost, one, cost / one)
		}
		print ""
	}
}

END {
	curve("cpus", "CPUs, all busy, 1 kHz each, with chains", 1)
	curve("owners", "Owners with a PMC each, 6400 Hz together, with chains; memory of an owner with its PMC", 0)
	curve("pmcs", "PMCs of one owner, 6400 Hz together, with chains", 0)
	curve("processes", "Sleeping processes, 6400 Hz, with chains", 1)
	sessions()
	others()
	if (!nline)
		bad = 1
	finish()
}
