#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Unwind tables on disk are those of one compiler: a library that is built without zlib
# or zstd makes other ones.

# shellcheck source=../lib/tap.sh source-path=SCRIPTDIR
. "$(dirname "$0")/../lib/tap.sh"

# compiler VARIABLE=...: the number of the compiler that is built
compiler()
{
	make -s -n -C "$here/../../../tools" BUILD="$tmp/build" V=1 "$@" \
		"$tmp/build/obj/lib/unwind/libpmc_unwind_cache.o" |
		grep -o 'UNWIND_COMPILER=[0-9]*U'
}

both=$(compiler ZLIB_LIBS=-lz ZSTD_LIBS=-lzstd)
ok "a compiler has a number" test -n "$both"
ok "... the same each time" \
	test "$(compiler ZLIB_LIBS=-lz ZSTD_LIBS=-lzstd)" = "$both"
zlib=$(compiler ZLIB_LIBS=-lz ZSTD_LIBS=)
ok "without zstd it is another one" test -n "$zlib" -a "$zlib" != "$both"
zstd=$(compiler ZLIB_LIBS= ZSTD_LIBS=-lzstd)
ok "without zlib it is another one" test -n "$zstd" -a "$zstd" != "$both"
ok "without either it is a third one" test "$zlib" != "$zstd"
done_testing
