# SPDX-License-Identifier: GPL-2.0-only
#
# agree.awk PERF-REPORT PMCLOG-REPORT
#
# Compares reports of the same samples: all rows of perf's flat profile of 0.05 %
# and more must be in pmclog's, with the same percentage and the same symbol.

function row(comm, object, symbol) {
	sub(/\[kernel.kallsyms\]/, "[kernel]", object)
	return comm " " object " " symbol
}

FNR == NR && $1 ~ /^[0-9.]+%$/ && $1 + 0 >= 0.05 {
	peer[row($2, $3, $5)] = $1 + 0
	rows++
}

FNR != NR && $1 ~ /^[0-9.]+$/ && $3 ~ /^[0-9,]+$/ {
	ours[row($4, $5, $6)] = $1 + 0
}

END {
	for (key in peer) {
		delta = ours[key] - peer[key]
		if (!(key in ours) || delta > 0.011 || delta < -0.011) {
			print "bench-reader: perf has " peer[key] " % of " key ", pmclog " \
				(key in ours ? ours[key] : "none") >"/dev/stderr"
			bad = 1
		}
	}
	if (rows < 10) {
		print "bench-reader: perf's profile has only " rows + 0 " rows" >"/dev/stderr"
		bad = 1
	}
	exit bad
}
