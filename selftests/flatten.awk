# SPDX-License-Identifier: GPL-2.0-only
#
# Turns what vm/guest/run-selftests prints into one flat TAP stream: every
# program's results, numbered through, with KERNEL (-v) and the program's name
# before theirs. A program that did not do what it had planned is one more
# failure; how long it has taken is a comment. The plan is printed by the caller,
# who goes on counting from what is written to COUNTER.

function result(verdict, text) {
	printf "%s %d - %s: %s\n", verdict, ++number, kernel, text
	fflush()
}

function finish(status, seconds) {
	if (program == "")
		return
	if (seconds != "") {
		print "# " kernel ": " program ": " seconds " s"
		fflush()
	}
	# 1 is a program's way to say that a test has failed, 4 that all were skipped
	if (plan == "" || seen != plan || (status != 0 && !failed && !(status == 4 && skipped == seen)))
		result("not ok", program ": exit status " status ", " seen + 0 " of " \
		       (plan == "" ? "?" : plan) " tests")
	program = ""
}

BEGIN {
	number = 0
}

/^@run / {
	finish("none")
	program = $2
	plan = ""
	seen = failed = skipped = 0
	print "# " kernel ": " program
	fflush()
	next
}

/^@end / {
	finish($2, $3)
	next
}

/^1\.\.[0-9]+/ && plan == "" {
	plan = substr($1, 4)
	# A program that skips itself as a whole: "1..0 # SKIP reason".
	if (plan == 0 && /# *SKIP/) {
		skipped = seen = 0
		result("ok", program " # SKIP" substr($0, index($0, "SKIP") + 4))
	}
	next
}

/^(not )?ok [0-9]/ {
	bad = /^not /
	sub(/^(not )?ok [0-9]+ *-? */, "")
	seen++
	if (/# *SKIP/)
		skipped++
	else if (bad)
		failed++
	result(bad ? "not ok" : "ok", program ": " $0)
	next
}

/^(TAP|KTAP) version/ || /^$/ {
	next
}

{
	print (/^#/ ? "" : "# ") $0
	fflush()
}

END {
	finish("none")
	print number > counter
}
