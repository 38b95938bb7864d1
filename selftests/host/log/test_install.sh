#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What "make install" puts there is enough to build and run a program.
# shellcheck source=../lib/tap.sh source-path=SCRIPTDIR
. "$(dirname "$0")/../lib/tap.sh"
tools=$here/../../../tools root=$tmp/root
INSTALL_BUILD=${INSTALL_BUILD:-$here/../../../build/tools}
cc=${CC:-cc}
cflags=() libs=()

install_all()
{
	make -C "$tools" install PREFIX=/opt/x DESTDIR="$root" \
		BUILD="$INSTALL_BUILD"
}

# flags NAME OPTION: what pkg-config says, into the array NAME.  The .pc
# file's paths are absolute: they have to be moved along.
flags()
{
	PKG_CONFIG_PATH=$root/opt/x/lib/pkgconfig pkg-config \
		--define-variable=prefix="$root/opt/x" \
		--define-variable=libdir="$root/opt/x/lib" \
		"${@:2}" libpmclog >"$tmp/flags" &&
	read -ra "$1" <"$tmp/flags"
}

# compile LIBS OPTION...: LIBS are what pkg-config is to be asked for
compile()
{
	flags cflags --cflags && flags libs --libs "$1" && shift &&
	$cc -Wall -Wextra -Werror "${cflags[@]}" "$@" \
		"$here/sample_freebsd.c" "${libs[@]}"
}

runs()
{
	LD_LIBRARY_PATH=$root/opt/x/lib "$1" <"$here/golden/full.pmclog" \
		>"$tmp/got" && diff -u "$here/golden/full.sample" "$tmp/got"
}

# Both headers in one C++ program, and nothing else included.
cplusplus()
{
	printf '%s\n' '#include <pmclog_iter.h>' '#include <pmclog.h>' \
		'int main() { return pmclog_open(-1) == 0; }' >"$tmp/x.cc"
	c++ -Wall -Wextra -Werror "${cflags[@]}" -o "$tmp/x" \
		"$tmp/x.cc" "${libs[@]}"
}

# Each header alone, in C without extensions.
strict()
{
	local header std

	for header in pmc pmc_types pmclog pmclog_iter; do
		for std in c99 c11 c17; do
			printf '#include <%s.h>\nint x;\n' $header >"$tmp/x.c" &&
			$cc -std=$std -pedantic -Wall -Wextra -Werror "${cflags[@]}" \
				-fsyntax-only "$tmp/x.c" || return
		done
	done
}

# The library's structs have an off_t of 64 bits: programs get that by pkg-config,
# or an error.
# short_type TYPE MACRO: an error without the macro, which pkg-config gives
short_type()
{
	printf '%s\n' '#include <sys/types.h>' "#define $1 int" \
		'#include <pmclog.h>' >"$tmp/x.c"
	[[ " ${cflags[*]} " == *" -D$2=64 "* ]] &&
	! $cc "${cflags[@]}" -fsyntax-only "$tmp/x.c" 2>"$tmp/err" &&
	grep -q "pmclog_needs$2_64.* negative" "$tmp/err"
}

symbols()
{
	nm -D --defined-only "$root/opt/x/lib/libpmclog.so.1" >"$tmp/nm" &&
	grep -q ' T pmclog_read@@LIBPMCLOG_1.0' "$tmp/nm" &&
	! grep ' [TDB] ' "$tmp/nm" | grep -v '@@LIBPMCLOG_1.0'
}

# The library calls nothing that prints or ends the program.
quiet()
{
	nm -D --undefined-only "$root/opt/x/lib/libpmclog.so.1" >"$tmp/nm"
	! grep -E ' (_?exit|abort|v?f?printf|puts|perror|f?write)(@|$)' "$tmp/nm" &&
	! grep -E ' (v?warnx?|v?errx?|__assert_fail)(@|$)' "$tmp/nm"
}

# An example, where udev does not look.
udev_example()
{
	grep -q '^SUBSYSTEM=="misc", KERNEL=="hwpmc", GROUP="hwpmc", MODE="0660"$' \
		"$root/opt/x/share/doc/hwpmc/60-hwpmc.rules" &&
	! find "$root" -path '*udev*' | grep .
}

ok "make install" install_all
ok "a FreeBSD program compiles" compile --shared -o "$tmp/sample"
ok "and reads a log" runs "$tmp/sample"
ok "statically too" compile --static -static -o "$tmp/sample-static"
ok "and reads a log" runs "$tmp/sample-static"
ok "C++ includes the headers" cplusplus
ok "strict C includes them" strict
ok "32-bit programs have its size of off_t" short_type off_t _FILE_OFFSET_BITS
ok "and of time_t" short_type time_t _TIME_BITS
ok "exported symbols have versions" symbols
ok "the library neither prints nor exits" quiet
# One for each library, and what they are about.
pages()
{
	local page
	for page in man3/pmc.3 man3/pmclog.3 man4/hwpmc.4 man5/pmclog.5; do
		[ -s "$root/opt/x/share/man/$page" ] || { echo "$page"; return 1; }
	done
}

# The module goes below DESTDIR, too, where depmod would make an index without the modules of
# the machine that gets it: what Kbuild and depmod are told, without doing it.
# shellcheck disable=SC2016 # make's variable
module()
{
	mkdir -p "$tmp/kdir/include/config" && echo 6.0-test >"$tmp/kdir/include/config/kernel.release" &&
	printf '%s:\n\techo to $(INSTALL_MOD_PATH).\n\t@: $(DEPMOD)\n' modules modules_install \
		>"$tmp/kdir/Makefile" &&
	make -n -C "$here/../../.." install KDIR="$tmp/kdir" BUILD="$INSTALL_BUILD" "$@" \
		>"$tmp/would"
}

below_destdir()
{
	module DESTDIR=/x && grep -qx 'echo to /x.' "$tmp/would" &&
	grep -qx ': /bin/true' "$tmp/would" && ! grep -e depmod -e ldconfig "$tmp/would" &&
	module DESTDIR=/x INSTALL_MOD_PATH=/y && grep -qx 'echo to /y.' "$tmp/would" &&
	! grep -e depmod -e ldconfig "$tmp/would" &&
	module INSTALL_MOD_PATH=/y && grep -qx 'echo to /y.' "$tmp/would" &&
	grep -q -- "-b '/y'" "$tmp/would" &&
	module && grep -qx 'echo to .' "$tmp/would" && grep depmod "$tmp/would" &&
	! grep -e "-b '" "$tmp/would" && grep ldconfig "$tmp/would"
}

ok "DESTDIR is for the module, too" below_destdir
# As GNU's makefiles have it; PREFIX wins.
prefix()
{
	make -n -C "$tools" install BUILD="$INSTALL_BUILD" DESTDIR=/d "$@" >"$tmp/would"
}

lower_case()
{
	prefix prefix=/usr && grep -q ' /d/usr/bin ' "$tmp/would" &&
	prefix prefix=/usr PREFIX=/opt && grep -q ' /d/opt/bin ' "$tmp/would" &&
	prefix && grep -q ' /d/usr/local/bin ' "$tmp/would"
}

ok "prefix= is taken" lower_case
ok "manual pages" pages
# The shells look there.
completions()
{
	[ -s "$root/opt/x/share/bash-completion/completions/pmclog" ] &&
	[ -s "$root/opt/x/share/zsh/site-functions/_pmcstat" ]
}

ok "completions" completions
ok "pmclog is installed" "$root/opt/x/bin/pmclog" --version
ok "the udev rule is an example" udev_example
# Nothing of ours stays, and all that is another's.
uninstall()
{
	mkdir -p "$root/opt/x/include/linux" && touch "$root/opt/x/include/linux/other.h" &&
	make -C "$tools" uninstall PREFIX=/opt/x DESTDIR="$root" \
		BUILD="$INSTALL_BUILD" >/dev/null &&
	(cd "$root" && find . ! -type d) >"$tmp/left" &&
	[[ $(cat "$tmp/left") == ./opt/x/include/linux/other.h ]] || { cat "$tmp/left"; return 1; }
}

ok "make uninstall" uninstall
done_testing
