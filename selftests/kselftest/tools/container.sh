#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# pmcstat and the program of a container: its files are an overlay that is mounted in
# a namespace of its own.  Another program has that path outside.  pmclog is in /in, if
# it is there (run-kselftests).
# Conditions are expanded when they are looked at.
# shellcheck disable=SC2016

# shellcheck source=lib/tool.sh source-path=SCRIPTDIR
. tool.sh
PATH=/in:$PATH
path=$(command -v probed)

modprobe -q overlay 2>/dev/null
if ! grep -qw overlay /proc/filesystems; then
	echo "1..0 # SKIP no overlayfs"
	exit 4
fi

# Two file systems: the overlay's numbers are those of neither.
mkdir -p low other root
mount -t tmpfs tmpfs other
mkdir -p "other/$(dirname "$path")"
cp "$(command -v truth)" "other/$path"
trap '[ ! "$busy" ] || kill $busy 2>/dev/null; umount "$dir/other"; rm -rf "$dir"' EXIT

# the initramfs cannot be left by pivot_root
cat >enter.sh <<'END'
mount --make-rprivate /
mount -t overlay overlay -o "lowerdir=$1/low:$1/other" "$1/root" && cd "$1/root" &&
	mount --move . / && exec chroot . "$2" 300
END

hex() { od -An -v -tx1 | tr -d ' \n'; }
# The id in the BUILDID of $path: 20 bytes in a field of 32.  It is the last of the log
# that ends so; a PROCEXEC may, too.
id_in() # LOG
{
	hex <"$1" | awk -v name="000000000000000000000000$(printf %s "$path" | hex)00" \
		'{ n = split($0, part, name)
		   if (n > 1) print substr(part[n - 1], length(part[n - 1]) - 39) }'
}
runs() { [ "$(stat -Lc %s "/proc/$1/exe")" = "$(stat -c %s "other/$path")" ]; }
hex <"other/$path" >truth.hex

has_names() # LOG
{
	if ! command -v pmclog >/dev/null; then
		count=$((count + 1))
		echo "ok $count - names of its functions # SKIP there is no pmclog"
		return
	fi
	run 0 pmclog fold "$1"
	ok 'names of its functions' 'has out "leaf_60 [0-9]*$"' 'hasnt out "\[probed\]"'
}

unshare -m sh enter.sh "$dir" "$path" &
pid=$!
busy=$pid
until runs $pid; do usleep 100000; done
run 0 pmcstat -n 1000000 -P cpu-clock:u -O log -l 1 -t $pid
ok 'a container that is there already' 'dump log | has - "^callchain $pid "' \
	'id=$(id_in log)' '[ "$id" ]' 'has truth.hex "$id"'
has_names log
kill $pid

run 0 pmcstat -n 1000000 -S cpu-clock:u -O log sh -c '
	unshare -m sh enter.sh "$1" "$2" & echo $! >pid
	until [ "$(stat -Lc %s /proc/$!/exe)" = "$3" ]; do usleep 100000; done
	sleep 3' sh "$dir" "$path" "$(stat -c %s "other/$path")"
pid=$(cat pid)
busy=$pid
ok 'one that is started meanwhile' 'runs $pid' 'dump log | has - "^exec .*\"$path\"$"' \
	'id=$(id_in log)' '[ "$id" ]' 'has truth.hex "$id"'
has_names log

done_testing
