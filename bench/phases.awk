# SPDX-License-Identifier: GPL-2.0-only
#
# awk -f stats.awk -f phases.awk LIST-OURS LIST-PERF COUNTS RUNS
#
# Instructions of each phase per sample or event: the plugin's count, minus its
# count in the bare run of the same load.

# One phase's line, and its BENCH line.
function show(phase, x, calls) {
	if (calls == "")
		printf "  %-16s %10.1f\n", phase, x
	else
		printf "  %-16s %10.1f %9.2f\n", phase, x, calls
	line[++nline] = sprintf("BENCH name=phase.%s.%s %s=%.5g unit=instructions/%s",
		title, phase, rec == "perf" ? "peer" : "ours", x, per)
}

function headline() {
	per = hz > 1 ? "sample" : load == "user" ? "second" : load
	n = hz > 1 ? field("samples") : load == "user" ? field("ns") / 1e9 : field("amount")
	title = load "." hz "hz." (chains ? "chains" : "plain")
	if (!n) {
		missing(title)
		exit
	}
	what = "events"
	if (hz > 1)
		what = chains ? "samples with chains" : "samples without chains"
	else if (load == "user")
		what = "seconds of passes without samples"
	printf "\n%s, %s load: %.5g %s\n", rec == "ours" ? "hwpmc" : "perf record", load, n, what
	printf "  %-16s %10s %9s\n", "phase", "insn/" per, "calls"
}

BEGIN { r = 0; runs = 0 }
FNR == 1 { file++ }
file <= 2 { name[file, count[file]++] = $3; next }
# several runs one after another, each ends with "all"
file == 3 && $1 == "phase" { insns[runs, $2] = $3; calls[runs, $2] = $4; next }
file == 3 { insns[runs, $1] = $2; if ($1 == "all") runs++; next }
$1 != "RUN" { next }
{
	rec = field("rec"); load = field("load"); hz = field("hz") + 0; chains = field("chains") + 0
	list = field("list") == "ours" ? 1 : 2
	if (rec == "bare") {
		bare[load, list] = r++
		next
	}
	b = bare[load, list]
	headline()
	for (i = 0; i < count[list]; i++)
		if (calls[r, i] > calls[b, i])
			show(name[list, i], (insns[r, i] - insns[b, i]) / n,
				(calls[r, i] - calls[b, i]) / n)
	show("other-kernel", (insns[r, "other"] - insns[b, "other"]) / n)
	show("user", (insns[r, "user"] - insns[b, "user"]) / n)
	show("all", (insns[r, "all"] - insns[b, "all"]) / n)
	r++
}

END {
	if (!bad && r != runs)
		missing(r " runs, but " runs " counts")
	finish()
}
