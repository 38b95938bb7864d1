#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# User chains of programs as a distribution ships them, in each way to record:
# pmclog says of 98 % and more of them that they are whole. The programs are in /in
# (run-kselftests puts them there) or in PATH, and so is pmclog.
#
# Nothing depends on how fast the machine is: a recording that has too few samples is
# made again with more work. Where unwind tables are made, or read from the disk, while
# the program is recorded already, the second half of the recording is what counts, of
# one that has samples enough of the program in its first half as well.
# Conditions are expanded when they are looked at.
# shellcheck disable=SC2016,SC2086

# shellcheck source=lib/tool.sh source-path=SCRIPTDIR
. tool.sh
PATH=/in:$PATH
export XDG_CACHE_HOME="$dir/cache" LC_ALL=C PERL_HASH_SEED=0
least=98	# percent
samples=250	# that count
largest=300	# input, in texts: the file is in the guest's memory
all_of_it=0%-100% first_half=0%-50% second_half=50%-100%
period=1000000	# ns: a thousand samples a second

# skip_all REASON
skip_all()
{
	echo "1..0 # SKIP $1"
	exit 4
}

# file_of PROGRAM: its file. "command -v" would name what BusyBox' shell has built in.
file_of()
{
	old=$IFS IFS=:
	for d in $PATH; do
		[ ! -x "$d/$1" ] || { readlink -f "$d/$1"; break; }
	done
	IFS=$old
}

# BusyBox' own are other programs.
for program in xz gzip sort perl bash pmclog; do
	case $(file_of $program) in
	*/busybox | "") skip_all "there is no $program here" ;;
	esac
done

head -n 2000 /proc/kallsyms >text
cat >perl.pl <<'END'
sub depth { my ($n) = @_; return $n ? 1 + depth($n - 1) : 0 }
for (1 .. $ARGV[0]) {
	my %n;
	$n{$_ * 7919 % 1000} = $_ for 1 .. 300;
	my @sorted = sort { $n{$a} <=> $n{$b} || $a <=> $b } keys %n;
	"@sorted" =~ /([0-9]+) 7 ([0-9]+)/;
	depth(20);
}
END
cat >bash.sh <<'END'
word() { local i; for ((i = 0; i < 100; i++)); do a[i % 7]=${1//o/$i}; done; }
for ((n = 0; n < $1; n++)); do word "foo $n boo"; done
END

# In rounds, so that each of them runs in both halves, whichever is the faster.
cat >tree.sh <<'END'
for round in 1 2 3 4; do
	gzip -9 -c input >/dev/null &
	(xz -1 -c input | sort -z) >/dev/null &
	wait
done
END

# work PROGRAM: sets $command, which is work of $size for PROGRAM
work()
{
	case $1 in
	xz) command="xz -1 -c input" ;;
	gzip) command="gzip -9 -c input" ;;
	sort) command="sort -k 3 input" ;;
	perl) command="perl $dir/perl.pl $size" ;;
	bash) command="bash $dir/bash.sh $size" ;;
	container) command="unshare -m sh $dir/enter.sh $size" ;;
	tree) command="bash $dir/tree.sh" ;;
	esac
	case $1 in
	xz | gzip | sort | tree)
		[ $size -le $largest ] || size=$largest
		i=0 parts=""
		while [ $i -lt $size ]; do
			i=$((i + 1)) parts="$parts text"
		done
		cat $parts >input
		;;
	esac
}

# chains PROGRAM TIME: pmclog's line of user chains in $user_chains, of it the number of
# samples in $all and the percentage that is whole in $percent
chains()
{
	pmclog filter --comm "$1" --time "$2" -o part log 2>/dev/null
	user_chains=$(pmclog info part | sed -n 's/^ *[Uu]ser chains *//p')
	rm -f part
	all=${user_chains%% *}
	percent=${user_chains#*: }
	percent=${percent%%[. ]*}
}

# enough PROGRAM TIME: are these samples many? $looked: which they were
enough()
{
	chains "$1" "$2"
	looked="$1 $2"
	case $all in
	"" | *[!0-9,]*) all=0 ;;
	esac
	all=$(echo "$all" | tr -d ,)
	[ "$all" -ge $samples ]
}

# whole NAME PROGRAM TIME: nearly all of them are whole. What has been recorded has been
# looked at, in most cases at these last.
whole()
{
	[ "$looked" = "$2 $3" ] || enough "$2" "$3"
	echo "# $1: $2: $user_chains"
	ok "$1: $2: chains are whole" "[ $all -ge $samples ]" "[ ${percent:-0} -ge $least ]"
}

# Standard output of the command is nobody's.
to_file() { run 0 sh -c "pmcstat -q -U -n $period $* -O log $command >/dev/null"; }
to_pipe() { run 0 sh -c "pmcstat -q -U -n $period $* -O - $command 2>/dev/null | cat >log"; }

# all_enough TIME: has each program of $counted many?
all_enough()
{
	for c in $counted; do
		enough "$c" "$1" || return
	done
}

# record WORK OPTION...: the log of WORK as a command, with so much work that each half
# has samples enough of each program of $counted, which is WORK if that is one program:
# one that begins late has no tables yet when the second half begins. The first
# recording makes the unwind tables. $recorder makes it.
record()
{
	kind=$1 size=4
	shift
	case $kind in
	tree) ;;
	container) counted=perl ;;
	*) counted=$kind ;;
	esac
	for try in 1 2 3 4 5 6 7; do
		work $kind
		$recorder "$@"
		all_enough $first_half && all_enough $second_half && [ $try -gt 1 ] && break
		# Not by "?:": BusyBox' shell divides by 0 in the half that is not taken, too.
		more=20
		[ $all -le 10 ] || more=$((samples * 2 / all + 1))
		size=$((size * more))
	done
}

# start COMMAND...: one that runs on, in $pid, which is called perl before long
start()
{
	"$@" 1000000000 &
	pid=$!
	busy="$busy $pid"
	until grep -q '^perl' "/proc/$pid/comm"; do usleep 10000; done
	# and is past its beginning
	usleep 300000
}

# record_running TIME OPTION...: the log of what runs already, for as long as it takes
# to have samples enough of $counted in this part of it. $recorder makes it.
for_seconds() { run 0 pmcstat -q -U -n $period -l $seconds "$@" -O log; }
from_device() { run 0 sh -c "fromdevice $1 $period $seconds >log"; }
record_running()
{
	part=$1 seconds=1
	shift
	for try in 1 2 3 4 5 6 7; do
		$recorder "$@"
		all_enough $part && break
		seconds=$((seconds * 2))
	done
}

# stop: what start() has started
stop()
{
	kill $pid
	wait $pid 2>/dev/null
}

recorder=to_file counted=""
modes=some
case $(uname -r -m) in
*-rt-* | *aarch64) ;;
6.12*) modes=all ;;
esac

for program in xz gzip sort bash perl; do
	record $program -P cpu-clock
	whole 'a command' $program $second_half
done
run 0 sh -c 'pmclog fold log | grep Perl_pp_sort'
ok 'a call path that is known' \
	'has out "^perl;.*;__libc_start_main[^;]*;.*perl_run;.*Perl_runops_standard;Perl_pp_sort;"'
# By frame pointers, which arm64's programs have, the caller of one that has no frame yet
# or any more would be missing from a chain that is whole.
run 0 sh -c 'pmclog fold log | grep ";__libc_start_main.*;Perl_pp_[a-z]* [0-9]*$"'
seen=$(awk '/;Perl_pp_(or|ncmp|multideref) / { n += $NF } END { print n + 0 }' out)
known=$(awk '/;Perl_runops_standard;Perl_pp_(or|ncmp|multideref) / { n += $NF }
	END { print n + 0 }' out)
echo "# Perl_runops_standard called these functions in $known of $seen samples"
ok 'callers are not left out' "[ $seen -ge 20 ]" "[ $((known * 100)) -ge $((seen * least)) ]"

# What runs already: the recording waits for its tables.
counted=perl recorder=for_seconds
start perl perl.pl
record_running $all_of_it -P cpu-clock -t $pid
whole 'a process that runs already' perl $all_of_it
record_running $all_of_it -S cpu-clock
whole 'the whole system' perl $all_of_it
if [ $modes = all ]; then
	recorder=from_device
	record_running $all_of_it $pid
	whole 'read from the device' perl $all_of_it
	recorder=for_seconds
fi

# Libraries and the loader. maps has a library's own name, and the loader looks for a
# link to it: libcrypt.so.1.1.0, libcrypt.so.1.
files=$(awk '$2 ~ /x/ && $6 ~ /^\// { print $6 }' /proc/$pid/maps | sort -u |
	while read -r file; do ls "$file" "${file%.so.*}".so.* 2>/dev/null; done)
stop
cat >enter.sh <<'END'
mount --make-rprivate / 2>/dev/null
mkdir -p root
mount -t tmpfs tmpfs root
for file in $files $loaders perl.pl; do
	mkdir -p "root/$(dirname "$file")"
	cp -L "$file" "root/$file"
done
exec chroot root "$perl" /perl.pl "$1"
END
loaders=$(ls /lib64/ld-linux-x86-64.so.2 /lib/ld-linux-aarch64.so.1 2>/dev/null)
perl=$(file_of perl)
export files loaders perl

# Its tables are made here, of files that are seen by way of the process only.
export XDG_CACHE_HOME="$dir/container"
start unshare -m sh enter.sh
got=0 want=0
ok 'files of a container are not there outside' '! [ -e root/perl.pl ]' '[ -e /proc/$pid/root/perl.pl ]'
record_running $second_half -P cpu-clock -t $pid
whole 'a process with files of its own' perl $second_half
stop
export XDG_CACHE_HOME="$dir/cache"

if [ $modes = some ]; then
	done_testing
	exit
fi

recorder=to_file
record perl -S cpu-clock
whole 'the whole system, and a command' perl $second_half
export XDG_CACHE_HOME="$dir/container2"
record container -P cpu-clock
whole 'a command with files of its own' perl $second_half
export XDG_CACHE_HOME="$dir/cache"
counted="gzip xz"
record tree -d -P cpu-clock
whole 'descendants' gzip $second_half
whole 'descendants' xz $second_half
run 0 pmcstat -Z -P cpu-clock -O log perl -e 1
zstd=-Z
! has err 'built without zstd' || zstd=""
record perl -P cpu-clock --packed $zstd
whole "packed${zstd:+ and compressed}" perl $second_half
record perl -P cpu-clock --flight 4M
whole 'the flight recorder' perl $second_half
recorder=to_pipe
record perl -P cpu-clock
recorder=to_file
whole 'a pipe' perl $second_half

# A file that is gone, of which there is no table yet
export XDG_CACHE_HOME="$dir/gone"
cp -L "$perl" perl-gone
start ./perl-gone perl.pl
rm perl-gone
got=0 want=0
ok 'a program has lost its file' 'readlink /proc/$pid/exe | has - deleted'
counted="perl-gone" recorder=for_seconds
record_running $second_half -P cpu-clock -t $pid
whole 'a deleted program' perl-gone $second_half
stop

done_testing
