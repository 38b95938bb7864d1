# SPDX-License-Identifier: GPL-2.0-only
#
# awk -f stats.awk -f report.awk RAW-FILE
#
# Makes tables and BENCH lines of bench-kernel's RAW lines: medians over the
# repetitions, with their range.

$1 == "RAW" {
	rec = field("rec"); load = field("load"); procs = field("procs")
	key = field("part") " " load " " procs
	amount[field("part") " " load] = field("amount")
	if (rec == "bare" || rec == "loaded" || rec == "open") {
		keep(rec " " key " " field("amount"), field("ns"))
		next
	}
	run[++nrun] = $0
}

# Subtracts the median bare run from each recorded run.
function reduce(	i, key, conf, base, n, list) {
	for (i = 1; i <= nrun; i++) {
		$0 = run[i]
		rec = field("rec"); load = field("load"); procs = field("procs")
		if (!median("bare " field("part") " " load " " procs " " field("amount"))) {
			missing("bare " load)
			continue
		}
		base = med
		n = field("samples")
		if (rec == "empty") {
			if (n > 0)
				keep("empty " load " " procs " " field("hz"), (field("ns") - base) / n)
			continue
		}
		conf = load " " procs " " field("hz") " " field("chains")
		if (rec == "packed") {
			rec = "ours"
			conf = conf "+packed"
		}
		key = rec " " conf
		keep("extra " key, field("ns") - base)
		keep("elapsed " key, field("ns"))
		keep("cpu " key, 100 * field("cpu") / field("ns"))
		keep("size " key, field("size"))
		keep("lost " key, field("lost"))
		keep("side " key, field("lost_side"))
		keep("rate " key, 100 * n / (field("hz") * field("ns") / 1e9))
		if (n > 0) {
			keep("insn " key, (field("ns") - base) / n)
			keep("bytes " key, field("sample_bytes") / n)
			keep("total " key, field("size") / n)
			keep("frames " key, field("frames") / n)
		}
		list = field("part") ~ /^(bpf|dwarf)$/ ? field("part") : "samples"
		if (!((list, conf) in seen)) {
			seen[list, conf] = 1
			order[list, ++listed[list]] = conf
		}
	}
}

# perf has no packed records: compare with its only kind.
function of_peer(conf) {
	sub(/\+packed$/, "", conf)
	return conf
}

function bench(name, what, conf, unit, goal) {
	compare(name, what " ours " conf, what " perf " of_peer(conf), unit, goal)
}

# The line of what was kept as A and as B, which is the peer's.
function compare(name, a, b, unit, goal,	ours, peer, orange, prange) {
	if (!median(a)) {
		missing(name " (ours)")
		return
	}
	ours = med; orange = sprintf("%.4g..%.4g", low, high)
	if (!median(b)) {
		missing(name " (perf)")
		return
	}
	peer = med; prange = sprintf("%.4g..%.4g", low, high)
	line[++nline] = sprintf("BENCH name=%s ours=%.5g peer=%.5g ratio=%s unit=%s ours_range=%s peer_range=%s%s",
		name, ours, peer, (peer ? sprintf("%.3f", ours / peer) : "-"), unit, orange, prange,
		goal ? " goal=" goal : "")
}

function cell(what, rec, conf, format) {
	if (rec == "perf")
		conf = of_peer(conf)
	return median(what " " rec " " conf) ? sprintf(format, med) : "-"
}

function range(what, rec, conf) {
	if (rec == "perf")
		conf = of_peer(conf)
	return median(what " " rec " " conf) ? sprintf("%.0f..%.0f", low, high) : "-"
}

function ratio(what, conf,	a) {
	if (!median(what " ours " conf))
		return "-"
	a = med
	if (!median(what " perf " of_peer(conf)) || !med)
		return "-"
	return sprintf("%.2f", a / med)
}

# FIELDS of a conf, in a name and in a table
function name_of(f) {
	return f[1] "." f[2] "." f[3] "hz." (f[4] ~ /^1/ ? "chains" : "plain") (f[4] ~ /packed/ ? ".packed" : "")
}

function chains_of(f) {
	return f[4] ~ /packed/ ? substr(f[4], 1, 1) ",pack" : f[4]
}

function sample_table(	i, c, f) {
	if (!listed["samples"])
		return
	print ""
	print "Samples (cpu-clock, whole system): instructions are elapsed minus bare, by samples"
	printf "%-7s %5s %6s %6s | %18s %18s %6s | %6s %6s %6s | %5s %5s | %6s %6s | %6s %6s | %6s %6s\n",
		"load", "procs", "Hz", "chains", "ours: insn", "perf: insn", "ratio",
		"ours:B", "perf:B", "ratio", "fr.", "fr.", "rate%", "rate%", "lost", "lost", "cpu%", "cpu%"
	for (i = 1; i <= listed["samples"]; i++) {
		c = order["samples", i]
		split(c, f, " ")
		if (f[3] == 1)
			continue
		printf "%-7s %5s %6s %6s | %6s %11s %6s %11s %6s | %6s %6s %6s | %5s %5s | %6s %6s | %6s %6s | %6s %6s\n",
			f[1], f[2], f[3], chains_of(f),
			cell("insn", "ours", c, "%.0f"), range("insn", "ours", c),
			cell("insn", "perf", c, "%.0f"), range("insn", "perf", c), ratio("insn", c),
			cell("bytes", "ours", c, "%.1f"), cell("bytes", "perf", c, "%.1f"), ratio("bytes", c),
			cell("frames", "ours", c, "%.1f"), cell("frames", "perf", c, "%.1f"),
			cell("rate", "ours", c, "%.1f"), cell("rate", "perf", c, "%.1f"),
			cell("lost", "ours", c, "%d"), cell("lost", "perf", c, "%d"),
			cell("cpu", "ours", c, "%.2f"), cell("cpu", "perf", c, "%.2f")
		name = name_of(f)
		bench("insn." name, "insn", c, "instructions/sample", "ratio<=0.5")
		bench("bytes." name, "bytes", c, "bytes/sample", "ratio<=0.7")
		bench("lost." name, "lost", c, "samples", "ours=0")
		bench("rate." name, "rate", c, "percent")
		bench("cpu." name, "cpu", c, "percent", f[3] == 10000 ? "ours<2" : "")
	}
}

# What REC takes above EVENT, which is what the event takes by itself. perf's is the
# same for packed logs.
function above(rec, conf, event,	i) {
	if (count["above " rec " " conf])
		return
	for (i = 1; i <= count["insn " rec " " conf]; i++)
		keep("above " rec " " conf, value["insn " rec " " conf, i] - event)
}

# The same samples, less what their event costs with a handler that only counts
function above_table(	i, c, f, event) {
	if (!listed["samples"])
		return
	print ""
	print "Above the same event with an empty handler: instructions, by samples"
	printf "%-7s %5s %6s %6s | %18s | %18s %18s %6s\n", "load", "procs", "Hz", "chains",
		"empty: insn", "ours: above", "perf: above", "ratio"
	for (i = 1; i <= listed["samples"]; i++) {
		c = order["samples", i]
		split(c, f, " ")
		if (f[3] == 1)
			continue
		if (!median("empty " f[1] " " f[2] " " f[3])) {
			missing("empty " name_of(f))
			continue
		}
		event = sprintf("%6.0f %11s", med, sprintf("%.0f..%.0f", low, high))
		above("ours", c, med)
		above("perf", of_peer(c), med)
		printf "%-7s %5s %6s %6s | %s | %6s %11s %6s %11s %6s\n", f[1], f[2], f[3], chains_of(f), event,
			cell("above", "ours", c, "%.0f"), range("above", "ours", c),
			cell("above", "perf", c, "%.0f"), range("above", "perf", c), ratio("above", c)
		bench("above-empty." name_of(f), "above", c, "instructions", "ratio<=0.4")
	}
}

# User chains by tables, beside perf's two ways. What perf has copied for a chain is
# unwound when it is read: it has no frames yet.
function dwarf_table(	i, c, f, name) {
	if (!listed["dwarf"])
		return
	print ""
	print "User chains by unwind tables; perf record --call-graph dwarf,8192; perf record -g: instructions and bytes a sample"
	printf "%-7s %6s | %19s %19s %8s | %8s %8s %8s | %6s %6s | %6s %6s %6s\n", "load", "Hz",
		"tables: insn", "dwarf: insn", "-g: insn", "tables:B", "dwarf:B", "-g:B", "fr.", "-g:fr.",
		"lost", "dwarf", "-g"
	for (i = 1; i <= listed["dwarf"]; i++) {
		c = order["dwarf", i]
		split(c, f, " ")
		printf "%-7s %6s | %6s %12s %6s %12s %8s | %8s %8s %8s | %6s %6s | %6s %6s %6s\n", f[1], f[3],
			cell("insn", "tables", c, "%.0f"), range("insn", "tables", c),
			cell("insn", "dwarf", c, "%.0f"), range("insn", "dwarf", c), cell("insn", "perf", c, "%.0f"),
			cell("bytes", "tables", c, "%.1f"), cell("bytes", "dwarf", c, "%.1f"), cell("bytes", "perf", c, "%.1f"),
			cell("frames", "tables", c, "%.1f"), cell("frames", "perf", c, "%.1f"),
			cell("lost", "tables", c, "%d"), cell("lost", "dwarf", c, "%d"), cell("lost", "perf", c, "%d")
		name = f[1] "." f[2] "." f[3] "hz"
		compare("insn.tables-dwarf." name, "insn tables " c, "insn dwarf " c, "instructions/sample")
		compare("insn.tables-fp." name, "insn tables " c, "insn perf " c, "instructions/sample")
		compare("bytes.tables-dwarf." name, "bytes tables " c, "bytes dwarf " c, "bytes/sample")
		compare("bytes.tables-fp." name, "bytes tables " c, "bytes perf " c, "bytes/sample")
	}
}

# The module, BPF and perf, of the part that measures all three
function bpf_table(	i, c, f, name, ours) {
	if (!listed["bpf"])
		return
	print ""
	print "pmcstat --bpf, without the module (cpu-clock, whole system): instructions and bytes a sample"
	printf "%-7s %6s | %8s %8s %8s | %6s %6s %6s | %6s %6s %6s | %6s\n", "load", "chains",
		"module", "bpf", "perf", "B", "bpf:B", "perf:B", "fr.", "fr.", "fr.", "lost"
	for (i = 1; i <= listed["bpf"]; i++) {
		c = order["bpf", i]
		split(c, f, " ")
		printf "%-7s %6s | %8s %8s %8s | %6s %6s %6s | %6s %6s %6s | %6s\n", f[1], f[4],
			cell("insn", "ours", c, "%.0f"), cell("insn", "bpf", c, "%.0f"), cell("insn", "perf", c, "%.0f"),
			cell("bytes", "ours", c, "%.1f"), cell("bytes", "bpf", c, "%.1f"), cell("bytes", "perf", c, "%.1f"),
			cell("frames", "ours", c, "%.1f"), cell("frames", "bpf", c, "%.1f"), cell("frames", "perf", c, "%.1f"),
			cell("lost", "bpf", c, "%d")
		name = "insn.bpf." f[1] "." (f[4] ? "chains" : "plain")
		if (!median("insn bpf " c)) {
			missing(name)
			continue
		}
		ours = med
		median("insn perf " c)
		line[++nline] = sprintf("BENCH name=%s ours=%.5g peer=%.5g ratio=%.3f unit=instructions/sample goal=%s",
			name, ours, med, ours / med, f[1] == "user" ? "ours<4300" : "ours<6400")
	}
}

function storm_table(	i, c, f, n, rec) {
	if (!("storms fork" in amount))
		return
	print ""
	print "Storms (process records alone): instructions and bytes per event"
	printf "%-6s | %22s %22s %6s | %8s %8s | %6s %6s\n", "event", "ours: insn", "perf: insn",
		"ratio", "ours:B", "perf:B", "lost", "lost"
	for (i = 1; i <= listed["samples"]; i++) {
		c = order["samples", i]
		split(c, f, " ")
		if (f[3] != 1)
			continue
		n = amount["storms " f[1]]
		for (rec = 1; rec <= 2; rec++) {
			scale("extra " (rec == 1 ? "ours " : "perf ") c, n)
			scale("size " (rec == 1 ? "ours " : "perf ") c, n)
		}
		printf "%-6s | %8s %13s %8s %13s %6s | %8s %8s | %6s %6s\n", f[1],
			cell("extra", "ours", c, "%.0f"), range("extra", "ours", c),
			cell("extra", "perf", c, "%.0f"), range("extra", "perf", c), ratio("extra", c),
			cell("size", "ours", c, "%.0f"), cell("size", "perf", c, "%.0f"),
			cell("side", "ours", c, "%d"), cell("lost", "perf", c, "%d")
		bench("storm." f[1], "extra", c, "instructions/" f[1])
		bench("storm-bytes." f[1], "size", c, "bytes/" f[1])
	}
}

function scale(key, n,	i) {
	for (i = 1; i <= count[key]; i++)
		value[key, i] /= n
}

function idle_table(	k, i, kinds, state, base) {
	if (!("idle user" in amount))
		return
	print ""
	print "The module loaded, or opened, and idle: change of the load's instructions"
	printf "%-7s %14s %12s %12s %20s\n", "load", "bare", "loaded", "opened", "bare varies by"
	split("user kernel fork exec mmap", kinds, " ")
	for (i = 1; i <= 5; i++) {
		k = "idle " kinds[i] " 1 " amount["idle " kinds[i]]
		median("bare " k)
		base = med
		printf "%-7s %14d ", kinds[i], base
		median("loaded " k)
		line[++nline] = sprintf("BENCH name=idle-loaded.%s ours=%d peer=%d ratio=%.6f unit=instructions goal=ratio=1",
			kinds[i], med, base, med / base)
		printf "%+11.4f%% ", 100 * (med / base - 1)
		median("open " k)
		printf "%+11.4f%% ", 100 * (med / base - 1)
		line[++nline] = sprintf("BENCH name=idle-opened.%s ours=%d peer=%d ratio=%.6f unit=instructions goal=ratio=1",
			kinds[i], med, base, med / base)
		median("bare " k)
		printf "%+11.4f%%..%+.4f%%\n", 100 * (low / med - 1), 100 * (high / med - 1)
	}
}

END {
	reduce()
	sample_table()
	above_table()
	dwarf_table()
	bpf_table()
	storm_table()
	idle_table()
	finish()
}
