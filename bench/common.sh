# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What the benchmarks share on the host. Sourced.

bench=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
root=$(realpath "$bench/..")
kernel=${KERNEL:-6.12}
programs=$root/build/bench-amd64

# bench_build OUT: what the machine needs, and an empty directory for what comes
# out. Not what vm/run would build: the tests are of no use here.
bench_build() {
	local out=$1
	[[ $(cat "$("$root/selftests/vm/kernel" "$kernel")/arch") == x86_64 ]] ||
		{ echo "bench: there is no perf for $kernel's machine here" >&2; exit 1; }
	rm -rf "$out"
	mkdir -p "$out"
	make -s -C "$root/tools" guest OUT="$root/build/guest-amd64" STATIC=1
	make -s -C "$bench" OUT="$programs"
	[[ ${HWPMC_KO:-} ]] || make -s -C "$root" "build/$kernel/hwpmc.ko"
}

# bench_run OUT RUN-OPTION... -- COMMAND: in a machine whose clock counts
# instructions. It counts each turn of a "rep movsb" as one, which says nothing
# about a processor: the kernel copies by words instead. More options of QEMU are
# in $qemu_options.
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
