#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# test_sizes.sh
#
# What is too large to be read at once is split. TAP.

# The functions that ok() runs look unreachable to shellcheck.
# shellcheck disable=SC2317
set -uo pipefail

# shellcheck source-path=SCRIPTDIR source=../lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
cd "$root" || exit

sources() {
	find . \( -path ./build -o -path ./.git \) -prune -o \
		-type f \( -name '*.[ch]' -o -name '*.sh' -o -name '*.py' -o -name '*.rst' \) -print
}

nothing() {
	! grep .
}

folders() {
	sources | sed 's|/[^/]*$||' | sort | uniq -c | awk '$1 > 40' | nothing
}

lines() {
	sources | grep '\.[ch]$\|\.sh$' | xargs wc -l | awk '$1 > 700 && $2 != "total"' | nothing
}

# members: "STRUCT NUMBER" of the structures in the headers of src/. A part that has a
# structure of its own in it is one member.
members() {
	awk '
	/^struct [a-z_]+ \{$/ { name = $2; n = depth = 0; next }
	!name { next }
	/^}/ { print name, n; name = ""; next }
	/^[ \t]*\/?\*/ { next }
	{ text = $0; sub(/\/\*.*/, "", text) }
	text ~ /\{[ \t]*$/ { depth++; next }
	text ~ /^\t+\}/ { depth--; if (!depth) n++; next }
	!depth && text ~ /;[ \t]*$/ { n += 1 + gsub(/,/, "", text) }' "$@"
}

# struct unwinder has 32, and is the only exception.
structures() {
	members src/*.h src/*/*.h >"$tmp/members"
	grep -q '^hwpmc_owner ' "$tmp/members" && grep -q '^hwpmc_log ' "$tmp/members" &&
		awk '$2 > 30 && $1 != "unwinder"' "$tmp/members" | nothing
}

counted() {
	printf '%s\n' 'struct a {' '	/* one; */' '	int b;	/* two */' '	struct {' '		int c;' \
		'		int d;' '	} e;' '	int f, g;' '};' >"$tmp/a.h"
	[[ $(members "$tmp/a.h") == "a 4" ]]
}

echo "TAP version 13"
ok "no folder has more than 40 sources" folders
ok "no source has more than 700 lines" lines
ok "members are counted" counted
ok "no structure of the module has more than 30 members" structures
done_testing
