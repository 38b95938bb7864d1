#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What is mapped where and when, and what processes are called.
. "$(dirname "$0")/lib.sh"

log fork <<-EOF
	event cpu-clock 1000
	proc 10 parent
	map 10 0x10000 0x1000 0 /x/old
	fork 10 11
	sample 1 11 0x10100
	map 10 0x10000 0x1000 0 /x/new
	sample 2 10 0x10100
	sample 4 11 0x10100
	map 11 0x20000 0x1000 0 /x/child
	sample 8 10 0x20100
	sample 16 11 0x20100
EOF
ok "a fork inherits, and then parent and child part" folds fork "\
parent;[child] 16
parent;[new] 2
parent;[old] 5
parent;[unknown] 8"

log exec <<-EOF
	event cpu-clock 1000
	proc 10 sh
	map 10 0x10000 0x1000 0 /x/sh
	fork 10 11
	sample 1 11 0x10100
	proc 11 ls
	exec 11 /bin/ls
	sample 2 11 0x10100
	map 11 0x10000 0x1000 0 /x/ls
	sample 4 11 0x10100
	sample 8 10 0x10100
	exec 11 /bin/a-program-with-a-long-name
	sample 16 11 0x10100
	proc 11 script
	exec 11 /bin/interpreter
	sample 32 11 0x10100
EOF
ok "exec forgets what was mapped, and names" folds exec "\
a-program-with-;[unknown] 16
ls;[ls] 4
ls;[unknown] 2
script;[unknown] 32
sh;[sh] 9"

# From 6.16 on the kernel ends an address space after the process has been said to exit.
log ended <<-EOF
	event cpu-clock 1000
	proc 10 p
	map 10 0x10000 0x1000 0 /x/p
	exit 10
	sample 1 10 0x10100
	proc 12 other
	fork 12 10
	sample 2 10 0x10100
	proc 11 again
	map 11 0x10000 0x1000 0 /x/again
	exit 11
	proc 11 again
	map 11 0x20000 0x1000 0 /x/again
	sample 4 11 0x10100
	proc 13 parent
	map 13 0x10000 0x1000 0 /x/parent
	exit 13
	fork 13 14
	sample 8 14 0x10100
EOF
ok "samples after the exit have its mappings, those of the next process with the pid have not" \
	folds ended "\
again;[unknown] 4
other;[unknown] 2
p;[p] 1
parent;[unknown] 8"

{
	echo "event cpu-clock 1000"
	for ((i = 1; i <= 2000; i++)); do
		printf '%s\n' "proc $i p" "map $i 0x10000 0x1000 0 /x/p" "exit $i"
	done
	for ((i = 1; i <= 2000; i++)); do
		echo "sample 1 $i 0x10100"
	done
} | log many_ended
ok "... of the last thousand processes" folds many_ended "\
p;[p] 1024
p;[unknown] 976"

log supersede <<-EOF
	event cpu-clock 1000
	proc 10 p
	map 10 0x10000 0x4000 0 /x/under
	map 10 0x11000 0x1000 0 /x/over
	sample 1 10 0x10fff
	sample 2 10 0x11000
	sample 4 10 0x11fff
	sample 8 10 0x12000
	unmap 10 0x10800 0x11800
	sample 16 10 0x10700
	sample 32 10 0x10900
	sample 64 10 0x11900
EOF
ok "a mapping supersedes, munmap cuts" folds supersede "\
p;[over] 70
p;[under] 25
p;[unknown] 32"

log reuse <<-EOF
	event cpu-clock 1000
	proc 10 first
	map 10 0x10000 0x1000 0 /x/first
	sample 1 10 0x10100
	exit 10
	sample 2 10 0x10100
	proc 1 init
	fork 1 10
	sample 32 10 0x10100
	proc 10 second
	sample 4 10 0x10100
	map 10 0x10000 0x1000 0 /x/second
	sample 8 10 0x10100
	exit 10
	proc 10 third
	sample 16 10 0x10100
EOF
ok "a pid that is used again starts anew" folds reuse "\
first;[first] 3
init;[unknown] 32
second;[second] 8
second;[unknown] 4
third;[unknown] 16"

log names <<-EOF
	event cpu-clock 1000
	sample 1 0 0xffffffff81000000
	sample 2 4711 0x100
	thread 21 20 worker
	sample 4 20 0x100
	proc 20 my\x20prog;x
	thread 22 20 other
	sample 8 20 0x100
	proc 20 renamed
	sample 16 20 0x100
	fork 20 30
	sample 32 30 0x100
	sample 64 -1 0x100
EOF
ok "names: idle, unknown, of a thread, changed, inherited" folds names "\
?4711;[unknown] 2
?;[unknown] 64
[idle];[kernel]_[k] 1
my_prog:x;[unknown] 8
renamed;[unknown] 48
worker;[unknown] 4"

log late <<-EOF
	event cpu-clock 1000
	proc 10 p
	mapin 10 0x10000 /x/a
	mapin 10 0x12000 /x/b
	sample 1 10 0x11fff
	sample 2 10 0x12000
	mapin 10 0x8000 /x/c
	sample 4 10 0xffff
	sample 8 10 0x10000
EOF
ok "a mapping of unknown extent goes on to the next" folds late "\
p;[a] 9
p;[b] 2
p;[c] 4"

log gone <<-EOF
	event cpu-clock 1000
	proc 10 p
	sample 3 10
	sample 4 10 0 0xffffffffffffffff 1
EOF
ok "chains of nothing and of nonsense" folds gone "\
p;[unknown] 3
p;[unknown];[kernel]_[k];[unknown] 4"

{
	echo "event cpu-clock 1000"
	echo "proc 1 forker"
	for i in {1..60}; do
		echo "map 1 $((i * 65536)) 4096 0 /x/lib$i"
	done
	for i in {2..10001}; do
		echo "fork 1 $i"
		echo "sample 1 $i 0x10010 0x20010"
	done
} | log forks
ok "10,000 forks" folds forks "forker;[lib2];[lib1] 10000"

done_testing
