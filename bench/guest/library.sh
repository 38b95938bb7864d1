# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# What the benchmarks in the virtual machine share. Sourced.

load=/in/load
overflows=/sys/module/empty/parameters/overflows
program=${0##*/}
hz=0 chains=0

die() {
	echo "$program: $*" >&2
	exit 1
}

# Addresses are the same in all runs. perf's limits must not lower a rate; the rate
# can be changed only while the time limit is on. The size of perf's buffers stays
# at its default.
settings() {
	echo 0 >/proc/sys/kernel/randomize_va_space
	echo 25 >/proc/sys/kernel/perf_cpu_time_max_percent
	echo 1000000 >/proc/sys/kernel/perf_event_max_sample_rate
	echo 0 >/proc/sys/kernel/perf_cpu_time_max_percent
}

# After boot the kernel refines its clock and checks certificates in the
# background for some seconds. Idle time costs nothing here.
settle() {
	before=0 tries=0
	sleep 20
	while :; do
		now=$("$load" user 100000)
		now=${now%% *}
		now=${now#ns=}
		diff=$(((now - before) * 5000 / now))
		[ ${diff#-} -ne 0 ] || break
		before=$now
		tries=$((tries + 1))
		[ $tries -lt 20 ] || die "the guest does not settle"
	done
}

# After a recording, probes and patched text are removed within some seconds.
calm() {
	sleep 10
}

insert() {
	[ -e /sys/module/hwpmc ] || insmod /hwpmc/hwpmc.ko
}

remove() {
	[ ! -e /sys/module/hwpmc ] || rmmod hwpmc
}

# with_empty COMMAND...: beside an event at $hz with an empty handler, on each CPU. How
# many overflows there were goes to /tmp/overflows.
with_empty() {
	insmod /in/empty.ko period=$((1000000000 / hz))
	sleep 1
	read -r before <$overflows
	"$@" >/tmp/said
	read -r after <$overflows
	rmmod empty
	echo $((after - before)) >/tmp/overflows
}

# each_rep COMMAND...: REPS times; $rep is its number
each_rep() {
	rep=1
	while [ $rep -le "${REPS:-3}" ]; do
		"$@"
		rep=$((rep + 1))
	done
}

# with_REC COMMAND...: at $hz, with call chains if $chains; the output of COMMAND
# goes to /tmp/said, the recording to /tmp/log. perf adds no build-ids or other data
# at the end: only the recording itself is compared.
with_perf() {
	graph=
	[ "$chains" = 0 ] || graph=${dwarf:--g}
	# shellcheck disable=SC2086
	perf record -q -B -N -e cpu-clock -c $((1000000000 / hz)) -a $graph -o /tmp/log -- "$@" \
		>/tmp/said 2>/tmp/err || die "perf record: $(cat /tmp/err)"
}

# by 8 KiB of each sample's stack, which are unwound when the recording is read
with_dwarf() {
	dwarf="--call-graph dwarf,8192"
	with_perf "$@"
	dwarf=
}

with_ours() {
	option=-N
	[ "$chains" = 0 ] || option=-U
	# shellcheck disable=SC2086
	pmcstat -q ${packed:-} ${without:---unwind "${unwind:-${UNWIND:-fp}}"} -n $((1000000000 / hz)) $option -S cpu-clock -O /tmp/log "$@" \
		>/tmp/said 2>/tmp/err || die "pmcstat: $(cat /tmp/err)"
}

with_packed() {
	packed=--packed
	with_ours "$@"
	packed=
}

# user chains by unwind tables, pmcstat's default
with_tables() {
	unwind=tables
	with_ours "$@"
	unwind=
}

# by BPF, without the module, which may be loaded
with_bpf() {
	without=--bpf
	with_ours "$@"
	without=
}

with_bare() {
	"$@" >/tmp/said
}
