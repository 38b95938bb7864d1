# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Joins the TAP of several programs: numbers anew, one plan, a total line.

/^1\.\.[0-9]+$/	{ next }

/^# (merge|ring)_[a-z_]+$/ {
	program = $2
	print
	next
}

/^(not )?ok / {
	failed += /^not/
	skipped += /# SKIP/
	text = $0
	sub(/^(not )?ok *[0-9]* *-? */, "", text)
	printf "%s %d - %s: %s\n", /^not/ ? "not ok" : "ok", ++n, program, text
	fflush()
	next
}

{
	print /^#/ ? $0 : "# " $0
	fflush()
}

END {
	printf "1..%d\n", n
	printf "# total: %d passed, %d failed, %d skipped\n",
	       n - failed - skipped, failed, skipped
	exit failed || !n
}
