#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The stubs by which functions of other libraries are called, as linkers lay them out.
# objdump knows their names, too.
. "$(dirname "$0")/lib.sh"

cat >"$tmp/calls.c" <<-EOF
	extern __thread int shared, other;
	extern int first(int), second(int), third(int);
	int all(void) { return shared + other + first(1) + second(2) + third(3); }
EOF

# stubs OBJDUMP FILE: "ADDRESS NAME" of those of functions
stubs()
{
	"$1" -d -j .plt -j .plt.sec -j .plt.got "$2" 2>/dev/null |
		sed -n 's/^\([0-9a-f]*\) <\([a-z_]*@plt\)>:$/\1 \2/p' |
		grep -v ' \(shared\|other\)@'
}

# agree MACHINE OBJDUMP COMPILER OPTION...
agree()
{
	local machine=$1 objdump=$2
	shift 2
	"$@" -O1 -fPIC -shared -o "$tmp/calls" "$tmp/calls.c" 2>/dev/null ||
		return
	stubs "$objdump" "$tmp/calls" >"$tmp/stubs"
	grep -q ' first@plt$' "$tmp/stubs" || return
	{
		echo "host 6.1 box"
		echo "machine $machine"
		load 7 $((0x555500000000)) "$tmp/calls"
		while read -r addr name; do
			echo "sample 1 7 0x555500000000+0x$addr"
		done <"$tmp/stubs"
	} | prog_log plt
	cut -d ' ' -f 2 "$tmp/stubs" | sort -u >"$tmp/want"
	"$pmclog" fold "$tmp/plt" | sed 's/^prog;//; s/ [0-9]*$//' | sort -u |
		diff "$tmp/want" -
}

# linked NAME MACHINE OBJDUMP COMPILER OPTION...
linked()
{
	local name=$1
	shift
	if command -v "$2" >/dev/null &&
	   "${@:3}" -O1 -fPIC -shared -o "$tmp/calls" "$tmp/calls.c" \
		2>/dev/null; then
		ok "$name" agree "$@"
	else
		skip "$name" "no such linker"
	fi
}

cc=${CC:-cc}
if [ "$(uname -m)" = x86_64 ]; then
	linked "bound as they are called" 62 objdump $cc
	linked "bound at the start" 62 objdump $cc -Wl,-z,now
	linked "with IBT" 62 objdump $cc -fcf-protection -Wl,-z,ibtplt
	linked "by lld" 62 objdump $cc -fuse-ld=lld
	linked "by lld, with IBT" 62 objdump $cc -fuse-ld=lld -Wl,-z,force-ibt
	linked "descriptors of thread-local variables" 62 objdump $cc \
		-mtls-dialect=gnu2
	linked "the same, bound at the start" 62 objdump $cc \
		-mtls-dialect=gnu2 -Wl,-z,now
fi
arm=aarch64-linux-gnu
linked "arm64" 183 $arm-objdump $arm-gcc
linked "arm64, bound at the start" 183 $arm-objdump $arm-gcc -Wl,-z,now
linked "arm64, with BTI" 183 $arm-objdump $arm-gcc \
	-mbranch-protection=standard -Wl,-z,force-bti

done_testing
