# SPDX-License-Identifier: GPL-2.0-only
#
# awk -f stats.awk -f report.awk RAW-FILE
#
# Makes a table and BENCH lines of bench-reader's RAW lines: medians over the
# repetitions, with their range.

$1 == "RAW" {
	job = field("job")
	if (!(job in seen)) {
		order[++njob] = job
		seen[job] = 1
	}
	goal[job] = field("goal")
	unit[job] = field("unit")
	keep(job " " field("tool"), field("value"))
	if (field("cpu") != "")
		keep(job " " field("tool") " cpu", field("cpu"))
	if (field("rss") != "")
		keep(job " " field("tool") " rss", field("rss") / 1024)
}

function cell(key, format) {
	return median(key) ? sprintf(format, med) : "-"
}

# Rates: more is better.
function times(job, a, b) {
	if (!a || !b)
		return 0
	return unit[job] ~ /\/s$/ ? a / b : b / a
}

# The ratio of CPU times: other load does not change these.
function cpu_times(job,	ours) {
	if (!median(job " ours cpu"))
		return "-"
	ours = med
	return median(job " peer cpu") ? sprintf("%.2f", med / ours) : "-"
}

function job_row(job,	ours, peer, range, f, cpu) {
	if (!median(job " ours")) {
		missing(job)
		return
	}
	ours = med
	range = sprintf("ours_range=%.4g..%.4g", low, high)
	peer = 0
	if (median(job " peer")) {
		peer = med
		range = range sprintf(" peer_range=%.4g..%.4g", low, high)
	}
	f = times(job, ours, peer)	# 0: what has no peer is measured by itself
	cpu = cpu_times(job)
	printf "%-22s %10.4g %10s %-7s %8s %8s %8s | %8s %8s\n", job, ours,
		peer ? sprintf("%.4g", peer) : "-", unit[job], f ? sprintf("%.2f", f) : "-", cpu,
		goal[job] ? ">=" goal[job] : "", cell(job " ours rss", "%.0f"), cell(job " peer rss", "%.0f")
	line[++nline] = sprintf("BENCH name=reader.%s ours=%.5g peer=%s ratio=%s unit=%s %s cpu_times=%s%s", job,
		ours, peer ? sprintf("%.5g", peer) : "-", peer ? sprintf("%.3f", ours / peer) : "-",
		unit[job], range, cpu, goal[job] ? (peer ? " goal=times>=" : " goal=ours>=") goal[job] : "")
}

END {
	print ""
	printf "%-22s %10s %10s %-7s %8s %8s %8s | %8s %8s\n", "job", "ours", "peer", "unit", "times",
		"cpu", "goal", "ours:MB", "peer:MB"
	for (i = 1; i <= njob; i++)
		job_row(order[i])
	finish()
}
