#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Runs pmcstat, built with a library that needs no device: which unwind tables are there
# before something is sampled.
# usage: preload.sh PMCSTAT
# Conditions are expanded when they are looked at.
# shellcheck disable=SC2016,SC2034

pmcstat=$1
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$PWD/lib.sh"

line_of() { grep -n -e "$1" trace | head -n 1 | cut -d: -f1; }
before() { [ "$(line_of "$1")" -lt "$(line_of "$2")" ]; }
# the files of a command, as the device would get them, with a blank behind each
files() { sed -n 's|^\(/.*\) 0$|\1|p' trace | tr '\n' ' '; }

# What runs already gets its unwind tables before it is sampled.
run 0 "$pmcstat" -v -O log -S cs -l .1
ok 'tables of all processes, then the start' all 'before "^preload 0$" "^start 0$"' \
	'before "^preloaded" "^close "' 'hasnt trace "preload program"' \
	'has err "unwind tables of 300 files in 500 processes: 30.0 MB$"'
run 0 "$pmcstat" -O log -P cs -t $$ -l .1
ok 'of the processes that are attached to' has trace '^preload 1$'
run 0 "$pmcstat" -O log -S cs --unwind fp true
ok 'none where none are used' hasnt trace preload
run 0 "$pmcstat" -s cs true
ok 'nor where nothing is sampled' hasnt trace preload
since=$(date +%s)
run 0 env FAKE_PRELOAD=60000 "$pmcstat" -v -O log -S cs -l .1
ok 'a recording does not wait for long' all 'has trace "^preloaded"' \
	'[ $(($(date +%s) - since)) -le 10 ]' 'has err "more are made"'

# Others are made when they are asked for, by a thread that ends before the owner does.
ok 'a thread for what is asked for' all 'before "^unwinder 0$" "^start 0$"' \
	'before "^unwound" "^close "' 'hasnt err max_ringmem'
run 0 "$pmcstat" -O log -S cs --unwind fp -l .1
ok 'none where nothing is asked for' hasnt trace unwinder
run 0 env FAKE_FAIL=unwinder:11 "$pmcstat" -O log -S cs -l .1
ok 'no thread to be had' all 'has err "no thread for unwind tables"' 'has trace "^start 0$"'
run 0 env FAKE_REFUSED=1 "$pmcstat" -s cs -w .1 -O log -S cs -l 1
ok 'no room for tables: it is said once' all \
	'[ "$(grep -c "no room for more unwind tables (max_ringmem)" err)" = 1 ]'
run 0 env FAKE_REFUSED=1 "$pmcstat" -q -O log -S cs -l .1
ok 'and not to who wants to hear nothing' hasnt err max_ringmem

# So does a command: the loader says what it will have.
true=$(realpath /bin/true)
libc=$(ldd "$true" | sed -n 's/.*=> \(.*libc\..*\) (.*/\1/p')
run 0 "$pmcstat" -v -O log -P cs true
ok 'tables of a command, then its start' all 'before "^preload program" "^/"' \
	'before "^$libc 0" "^start 0$"' 'before "^preloaded" "^close "' \
	'hasnt trace "^preload 0$"' \
	'has err "unwind tables of 300 files of the command: 30.0 MB$"'
ok 'the program and its libraries' all 'has trace "^$true 0$"' \
	'has trace "^/.*/ld[-a-z0-9_.]*so[.0-9]* 0$"' 'has trace "^$libc 0$"'
run 0 "$pmcstat" -O log -S cs true
ok 'the command first, then all processes' before "^$libc 0" '^preload 0$'
run 0 "$pmcstat" -O log -P cs -t $$ true
ok 'or those that are attached to' before "^$libc 0" '^preload 1$'
run 0 "$pmcstat" -O log -P cs --unwind fp true
ok 'none of a command where none are used' hasnt trace preload
run 0 "$pmcstat" -p cs true
ok 'nor where it is counted' hasnt trace preload
cp "$true" ./-true
run 0 env PATH=":$PATH" "$pmcstat" -O log -P cs -- -true
ok 'a name that looks like an option' all 'has trace "^$PWD/-true 0$"' \
	'has trace "^$libc 0$"'

sh=$(realpath /bin/sh)
printf '#!/bin/sh\nexit 7\n' >script
printf '#! %s/script -x\n' "$PWD" >second
chmod +x script second
for script in script second; do
	run 7 "$pmcstat" -O log -P cs "./$script"
	ok "$script: of its interpreter" all 'has trace "^$sh 0$"' \
		'has trace "^$libc 0$"' 'hasnt trace "script"'
done

# program NAME FLAG...: one that does nothing
program()
{
	name=$1
	shift
	echo 'int main(void) { return 0; }' | ${CC:-cc} "$@" -x c -o "$name" -
}

if program static -static 2>/dev/null; then
	run 0 "$pmcstat" -O log -P cs ./static
	ok 'a static program: its own' [ "$(files)" = "$PWD/static " ]
fi

# a loader that lists, but loads nothing
program other -Wl,--dynamic-linker,"$PWD/ld.so"
loader()
{
	printf '#!/bin/sh\n: >listed\n%s\n' "$1" >ld.so
	chmod +x ld.so
}
loader 'exit 1'
run 126 "$pmcstat" -O log -P cs ./other
ok 'a loader that lists nothing: it, and the program' all '[ -e listed ]' \
	'[ "$(files)" = "$PWD/ld.so $PWD/other " ]' 'has err "^pmcstat: cannot run ./other"'
loader 'printf "\tnone => not found\n\tlib => %s (0x1)\n" "$PWD/script"'
run 126 "$pmcstat" -O log -P cs ./other
ok 'one that lacks a library: the others' \
	[ "$(files)" = "$PWD/ld.so $PWD/other $PWD/script " ]
loader 'exec sleep 60'
since=$(date +%s)
run 126 "$pmcstat" -O log -P cs ./other
ok 'one that does not end' all '[ "$(files)" = "$PWD/ld.so $PWD/other " ]' \
	'[ $(($(date +%s) - since)) -le 10 ]'

# the working directory has a script, but PATH has not
for which in ./nonexistent second; do
	run 127 "$pmcstat" -O log -P cs $which
	ok "$which: there is no such program" all '[ -z "$(files)" ]' \
		'has err "cannot run $which: No such"' 'lines err 1'
done
since=$(date +%s)
run 7 env FAKE_PRELOAD=60000 "$pmcstat" -v -O log -P cs ./script
ok 'a command does not wait for long' all 'has trace "^preloaded"' \
	'[ $(($(date +%s) - since)) -le 10 ]' 'has err "more are made"'

echo "1..$count"
[ "$failures" -eq 0 ]
