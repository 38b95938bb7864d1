#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# coverage.sh BUILD: runs the fuzzers of BUILD/bin, which count what they reach, as
# fuzz.sh does, and prints what of the code that reads logs, ELF files and symbols is
# reached: lines and regions of each file, the least first.  FUZZ_RUNS=300 has the
# seeds and little more.  A name with "<" in front
# is below LEAST per cent of lines (85).
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
tools=$(realpath "$here/../../tools")
build=$(realpath "$1")
least=${LEAST:-85}
counts=$build/counts

# What others hand us is read by these; what only writes is not asked for.
read_by=(lib/pmclog/*.c lib/unwind/libpmc_{cfi,cfi_read,cfi_rule,elf,unwind}.c
	lib/pmc/libpmc_{event,file,near,place,pmu,probe,provider,trace}.c
	reader/log/{record,input,mapped,steady,fields,events,logclock,wallclock}.c
	reader/profile/{profile*,jitmap,jitdump,jitplace,jits,kmods}.c
	reader/{machine,sample}/*.c reader/profile/{chains,callers,calltree,live}.c
	reader/elf/{imagefile,debugfile,altfile,elfsyms,symtab,inflate,unpack,linetab,lines,inlines,segs,disasm}.c
	reader/analysis/{ksyms,select,quality}.c reader/commands/summary.c
	reader/commands/filter/{filter_log,heldrecs}.c reader/commands/verify/verify*.c)

rm -rf "$counts"
mkdir -p "$counts"
LLVM_PROFILE_FILE=$counts/%p.profraw FUZZ_FOUND=$counts/found "$here/fuzz.sh" "$build/bin" >&2
llvm-profdata merge -sparse -o "$counts/all" "$counts"/*.profraw
objects=()
for program in "$build"/bin/fuzz_*; do
	objects+=(-object "$program")
done
unset "objects[0]"	# the first has no word before it
cd "$tools"
# shellcheck disable=SC2068,SC2046 # names without blanks
llvm-cov export -summary-only -instr-profile "$counts/all" "${objects[@]}" \
	$(realpath ${read_by[@]}) >"$counts/summary"
python3 - "$tools" "$least" "$counts/summary" <<'END'
import json
import sys

tools, least, path = sys.argv[1], float(sys.argv[2]), sys.argv[3]
with open(path) as f:
    data = json.load(f)["data"][0]
rows = [(f["summary"]["lines"]["percent"], f["summary"]["regions"]["percent"],
         f["summary"]["lines"]["count"], f["filename"].removeprefix(tools + "/"))
        for f in data["files"]]
print("%-36s %7s %7s %9s" % ("", "lines", "", "regions"))
for lines, regions, n, name in sorted(rows):
    print("%s %-34s %7d %6.1f%% %8.1f%%" % ("<" if lines < least else " ", name, n, lines,
                                         regions))
total = data["totals"]
print("  %-34s %7d %6.1f%% %8.1f%%" % ("all", total["lines"]["count"],
                                      total["lines"]["percent"],
                                      total["regions"]["percent"]))
END
