# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What the benchmarks share on the host. Sourced.

bench=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
root=$(realpath "$bench/..")
kernel=${KERNEL:-6.12}
programs=$root/build/bench-amd64

# bench_build OUT: builds what the machine needs, and makes an empty directory for
# the output. It does not build the tests, as vm/run would.
bench_build() {
	local out=$1
	[[ $(cat "$("$root/selftests/vm/kernel" "$kernel")/arch") == x86_64 ]] ||
		{ echo "bench: there is no perf for $kernel's machine here" >&2; exit 1; }
	rm -rf "$out"
	mkdir -p "$out"
	make -s -C "$root/tools" guest OUT="$root/build/guest-amd64" STATIC=1
	# scripts/check may run one for each of several kernels
	mkdir -p "$programs"
	flock "$programs" make -s -C "$bench" OUT="$programs"
	[[ ${HWPMC_KO:-} ]] || make -s -C "$root" "build/$kernel/hwpmc.ko"
}

# bench_run OUT RUN-OPTION... -- COMMAND: in a machine whose clock counts
# instructions. It counts each iteration of "rep movsb" as one, unlike a processor,
# so the kernel is made to copy by words. $qemu_options has more options of QEMU.
bench_run() {
	local out=$1 program
	shift
	local -a files=(-I "$(command -v perf)" -i "$bench/guest/library.sh")
	for program in "$programs"/* "$bench"/guest/bench-*; do
		[[ ! -x $program || $program == *.so ]] || files+=(-i "$program")
	done
	mkdir -p "$out/bin"
	printf '#!/bin/sh\nexec "%s" "$@" %s\n' "$(command -v qemu-system-x86_64)" \
		"${qemu_options:-}" >"$out/bin/qemu-system-x86_64"
	chmod +x "$out/bin/qemu-system-x86_64"
	PATH=$out/bin:$PATH "$root/selftests/vm/run" --kernel "$kernel" --icount --no-build \
		--no-module --timeout 3000 --append "nokaslr clearcpuid=erms,fsrm" "${files[@]}" \
		-o "$out" --log "$out/console" "$@"
}
