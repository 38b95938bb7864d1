#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# -R of an event that is sampled at a rate: graphs are of events; what has a
# line or a counter for each sample is of samples.
. "$(dirname "$0")/lib.sh"
make_shapes
{
	echo "host 9.9.9-test elsewhere"
	echo "freq cycles 4000"
	echo "proc 7 prog"
	load 7 "$base" "$shapes"
	echo "period 1000"
	echo "sample 20 7 $(at after 2) $(at main 40)"
	echo "period 9000"
	echo "sample 20 7 $(at leaf 5) $(at main 30)"
} | log log

ok "-G" same "\
@ cycles [200000 events]

90.00%  [180000]   leaf @ T/shapes
 100.0%  [180000]    main

10.00%  [20000]    after @ T/shapes
 100.0%  [20000]     main
" bash -c "$pmcstat -R $tmp/log -G - | sed 's|$tmp|T|'"
ok "-F" same "20000 180000 200000 " bash -c "$pmcstat -R $tmp/log -F - |
	sed -n 's/^summary: //p; s/^0x[0-9a-f]* [0-9]* //p' | sort -un |
	tr '\n' ' '; echo"
ok "-T" same "90.0 leaf 10.0 after " bash -c "$pmcstat -R $tmp/log -T |
	awk '/shapes/{ printf \"%s %s \", \$1, \$3 } END { print \"\" }'"
ok "-T: the samples" prints 0 "Samples: 40 (100.0%)" "$pmcstat" \
	-R "$tmp/log" -T
mkdir "$tmp/gprof"
ok "-g counts samples" same "\
50.00 20.00 after
50.00 20.00 leaf" bash -c "$pmcstat -R $tmp/log -g -D $tmp/gprof &&
	gprof -b -p $shapes $tmp/gprof/cycles/shapes.gmon |
	awk '\$1 ~ /^[0-9.]+\$/{ print \$1, \$3, \$NF }' | sort -k 3"
ok "-m has a line for each sample" same 40 bash -c \
	"$pmcstat -R $tmp/log -m - | wc -l"
ok "-v tells the periods" prints 0 "^userdata  0x78506d48 hwpmc\
 period pmcid=0xfff00f00 cpu=0 period=9000$" "$pmcstat" -v -R "$tmp/log"

done_testing
