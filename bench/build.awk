# SPDX-License-Identifier: GPL-2.0-only
#
# awk -f stats.awk -f build.awk -v kernel=NAME RAW-FILE
#
# Makes tables and BENCH lines of bench-build's RAW lines: medians over the
# repetitions, with their range.

function unit(event) {
	if (event == "ns" || event == "task-clock")
		return "ns"
	sub(/:.*/, "", event)
	return event
}

function row(work, event,	ours, peer, orange, prange) {
	if (!median(work " perf " event)) {
		missing(work " " event " (perf)")
		return
	}
	peer = med; prange = sprintf("%.0f..%.0f", low, high)
	pspread = high - low
	if (!median(work " ours " event)) {
		missing(work " " event " (ours)")
		return
	}
	ours = med; orange = sprintf("%.0f..%.0f", low, high)
	printf "%-6s %-16s %12.0f %12.0f %9.0f %9s | %9.0f %9.0f\n", work,
		event == "ns" ? "(elapsed, ns)" : event, ours, peer, ours - peer,
		peer ? sprintf("%+.4f%%", 100 * (ours / peer - 1)) : "-",
		high - low, pspread
	line[++nline] = sprintf("BENCH name=count.%s.%s.%s ours=%.0f peer=%.0f ratio=%s unit=%s ours_range=%s peer_range=%s%s",
		kernel, work, event == "ns" ? "elapsed" : event, ours, peer,
		peer ? sprintf("%.6f", ours / peer) : "-", unit(event), orange, prange,
		work == "build" && event == "instructions:u" ? " goal=0.999<=ratio<=1.001" : "")
}

$1 == "RAW" {
	for (i = 2; i <= NF; i++) {
		at = index($i, "=")
		name = substr($i, 1, at - 1)
		if (name == "work" || name == "rec") {
			of[name] = substr($i, at + 1)
			continue
		}
		if (name == "rep")
			continue
		if (!(of["work"] in seen)) {
			seen[of["work"]] = 1
			works[++nworks] = of["work"]
		}
		if (!(name in is_event)) {
			is_event[name] = 1
			events[++nevents] = name
		}
		key = of["work"] " " of["rec"] " " name
		value[key, ++count[key]] = substr($i, at + 1) + 0
	}
}

END {
	print ""
	print kernel ": counts of a command and all its processes; medians, and how far repetitions lie apart"
	printf "%-6s %-16s %12s %12s %9s %9s | %9s %9s\n", "work", "event", "pmcstat", "perf stat",
		"more", "", "ours:+-", "perf:+-"
	for (w = 1; w <= nworks; w++)
		for (e = 1; e <= nevents; e++)
			row(works[w], events[e])
	for (w = 1; w <= nworks; w++)
		if (median(works[w] " bare ns"))
			printf "%-6s bare: elapsed %.0f ns\n", works[w], med
	if (!nline)
		bad = 1
	finish()
}
