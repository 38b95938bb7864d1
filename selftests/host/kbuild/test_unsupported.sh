#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# test_unsupported.sh
#
# The build for a kernel that the module cannot work with ends with one sentence
# that says why. TAP. The kernels are the installed 6.12 headers, each with one
# thing taken away.

# The functions that result() runs look unreachable to shellcheck.
# shellcheck disable=SC2317
set -uo pipefail

root=$(realpath "$(dirname "$0")/../../..")
release=$(find /usr/src -maxdepth 1 -name 'linux-headers-6.12.*-cloud-amd64' -printf '%f\n' | sort -V | tail -n 1)
headers=/usr/src/$release
common=${headers%-cloud-amd64}-common

# Not under a name of its own: what is compiled always at the same place is found by
# ccache.
[[ ${HWPMC_KBUILD_TEST:-} ]] || HWPMC_KBUILD_TEST=1 exec unshare --mount "$0"
# shellcheck source-path=SCRIPTDIR source=../lib/tap.sh
. "$root/selftests/host/lib/tap.sh"
work=/var/lib/dkms
mount -t tmpfs tmpfs "$work" || exit

# A kernel to take something from, in $work/kernel, and a copy of the module.
fresh() {
	unset CCACHE_DISABLE
	rm -rf "$work/kernel" "$work/module"
	mkdir "$work/kernel" "$work/module"
	rsync -a --exclude=/vmlinux --exclude=/scripts --exclude=/tools "$headers/" "$work/kernel"
	ln -s "$(realpath "$headers/scripts")" "$(realpath "$headers/tools")" "$work/kernel"
	(cd "$root" && rsync -a --exclude='*.o' --exclude='*.cmd' --exclude=compat_probed.h \
		Kbuild src include "$work/module")
}

build() {
	make -C "$work/kernel" M="$work/module" W=1 CONFIG_DEBUG_INFO_BTF_MODULES= "$1"
}

# shadow HEADER SED: the kernel's HEADER, changed, before the right one. ccache does not
# see that another one of that name comes first now.
shadow() {
	export CCACHE_DISABLE=1
	local at=$work/kernel/arch/x86/include/generated/$1
	mkdir -p "$(dirname "$at")"
	sed -E "$2" "$common/include/$1" >"$at"
	! cmp -s "$at" "$common/include/$1"
}

without_option() {
	local file=$work/kernel/include/generated/autoconf.h
	grep -q "CONFIG_$1 " "$file" && sed -i "/CONFIG_$1 /d" "$file"
}

without_symbol() {
	local file=$work/kernel/Module.symvers
	grep -q "	$1	" "$file" && sed -i "/\t$1\t/d" "$file"
}

# ends REGEX TAKE...: what TAKE has taken away ends the build, with one sentence
# that matches REGEX.
ends() {
	local regex=$1
	shift
	fresh
	"$@" || { echo "there is nothing to take: $*"; return 1; }
	if build modules >"$work/log" 2>&1; then
		echo "the build has succeeded"
		return 1
	fi
	cat "$work/log"
	[[ $(grep -c '^hwpmc: ' "$work/log") == 1 ]] &&
		grep -Eq "^hwpmc: cannot be built for 6\.12\.[^ ]*: $regex" "$work/log"
}

# gives_up REGEX TAKE...: likewise, and nothing comes from the compiler.
gives_up() {
	ends "$@" && ! grep -E ': (error|warning): |undefined!' "$work/log"
}

# What the others take from is otherwise fine.
begins() {
	fresh
	build src/policy/params.o && [[ -e $work/module/src/policy/params.o ]]
}

# What Debian exports for Android's drivers, and plain kernels do not: without
# process modes, the module is one even so.
plain() {
	fresh
	without_symbol task_work_add && without_symbol mmput_async &&
		build modules && mv "$work/module/hwpmc.ko" "$work/plain.ko"
}

# What is left does what it says: latechain asks which of its tests that is.
plain_runs() {
	HWPMC_KO=$work/plain.ko "$root/selftests/run-kselftests" 6.12 latechain >"$work/log" 2>&1 &&
		grep -q '^ok .*[.]cut_where_none_comes_later$' "$work/log" && return
	cat "$work/log"
	return 1
}

echo "TAP version 13"
ok "kbuild: headers of 6.12 are installed" test -d "$common"
ok "kbuild: a kernel with everything" begins
ok "kbuild: a plain kernel, which exports less" plain
ok "kbuild: the module on a plain kernel" plain_runs
ok "kbuild: another architecture" gives_up 'call chains' without_option X86_64
ok "kbuild: no kprobes" gives_up '.*CONFIG_KPROBES' without_option KPROBES
ok "kbuild: no performance events" gives_up '.*CONFIG_PERF_EVENTS' without_option PERF_EVENTS
ok "kbuild: no tracepoints" gives_up '.*CONFIG_TRACEPOINTS' without_option TRACEPOINTS
ok "kbuild: no uprobes" gives_up '.*CONFIG_UPROBES' without_option UPROBES
ok "kbuild: older than 6.1" gives_up '.*6\.1' shadow linux/mm_types.h s/VMA_ITERATOR/VMA_WALKER/
ok "kbuild: a symbol is not exported" gives_up '.*perf_event_read_value' without_symbol perf_event_read_value
# Here the compiler's first lines help whoever ports the module.
ok "kbuild: a prototype that nobody knows" ends '.*neither form.*clone flags' \
	shadow trace/events/task.h 's/(task_struct \*task, )[a-z0-9 ]+ clone_flags/\1void *clone_flags/'
done_testing
