# SPDX-License-Identifier: GPL-2.0-only
#
# What the reports of the benchmarks share: RAW lines of NAME=VALUE, medians, and the
# end of a report.

function field(name,	i) {
	for (i = 2; i <= NF; i++)
		if (index($i, name "=") == 1)
			return substr($i, length(name) + 2)
	return ""
}

function sort(v, n,	i, j, t) {
	for (i = 2; i <= n; i++)
		for (j = i; j > 1 && v[j - 1] > v[j]; j--) {
			t = v[j]; v[j] = v[j - 1]; v[j - 1] = t
		}
}

# Sets med, low and high of the values kept as KEY.
function median(key,	i, n, v) {
	n = count[key]
	low = high = med = 0
	if (!n)
		return 0
	for (i = 1; i <= n; i++)
		v[i] = value[key, i]
	sort(v, n)
	low = v[1]
	high = v[n]
	med = n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2
	return n
}

function keep(key, x) {
	value[key, ++count[key]] = x + 0
}

function missing(what) {
	print "NOT MEASURED: " what
	bad = 1
}

# Ends a report, with the BENCH lines.
function finish(	i) {
	print ""
	for (i = 1; i <= nline; i++)
		print line[i]
	exit bad
}
