#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The manual pages of the libraries have all that these export: its name, as the
# header declares it, and a word about it; and nothing else.
# shellcheck source=../lib/tap.sh source-path=SCRIPTDIR
. "$(dirname "$0")/../lib/tap.sh"
lib=$here/../../../tools/lib pages=$here/../../../Documentation/man
export LC_ALL=C

# declared HEADER...: a line for each function, with blanks in one way
declared()
{
	python3 - "$@" <<-'END'
		import re, sys
		for path in sys.argv[1:]:
		    text = re.sub(r"/\*.*?\*/", "", open(path).read(), flags=re.S)
		    text = re.sub(r"^#.*|\bextern\b", "", text, flags=re.M)
		    for kind, name, args in re.findall(
		            r"^((?:\w+[ \t]+)+\**)(pmc\w+)\(([^;{]*)\)\s*[;{]", text,
		            re.M):
		        kind = re.sub(r"static|inline", "", kind).replace("*", " *")
		        args = [" ".join(a.split())
		                for a in re.split(r",(?![^(]*\))", args)]
		        print(" ".join(kind.split()), name, " | ".join(args))
	END
}

# documented PAGE: the same of its synopsis
documented()
{
	sed -n '/^\.Sh SYNOPSIS/,/^\.Sh DESC/{s/^\.Ft //p;s/^\.Fn /&/p;}' "$1" |
		awk '/^\.Fn /{ sub(/^\.Fn /, ""); name = $1; sub(/^[^ ]* /, "");
			gsub(/" "/, " | "); gsub(/"/, ""); print type, name, $0; next }
			{ gsub(/"/, ""); type = $0 }'
}

exported() { sed -n 's/^[[:space:]]*\(pmc[a-z0-9_]*\);$/\1/p' "$1" | sort; }

# exact PAGE MAP HEADER...
exact()
{
	local page=$1 map=$2
	shift 2
	exported "$map" >"$tmp/exported"
	[ -s "$tmp/exported" ] && declared "$@" | awk 'NR == FNR { is[$1]; next } {
		for (i = 1; i <= NF; i++) if ($i in is) { print; next } }' \
		"$tmp/exported" - | sort >"$tmp/declared"
	documented "$page" | awk 'NR == FNR { is[$1]; next } {
		for (i = 1; i <= NF; i++) if ($i in is) { print; next }
		print "not exported: " $0 }' "$tmp/exported" - | sort >"$tmp/page"
	[ "$(wc -l <"$tmp/declared")" = "$(wc -l <"$tmp/exported")" ] &&
		diff "$tmp/declared" "$tmp/page"
}
named()
{
	exported "$2" | diff - <(sed -n '/^\.Sh NAME/,/^\.Nd/s/^\.Nm \([a-z0-9_]*\).*/\1/p' \
		"$1" | sort)
}
# said PAGE MAP: what each does
said()
{
	local f missing=0
	sed '1,/^\.Sh DESC/d' "$1" >"$tmp/said"
	for f in $(exported "$2"); do
		grep -qE "^\.Fn $f( |$)" "$tmp/said" || { echo "$f"; missing=1; }
	done
	return $missing
}
# errors HEADER PAGE: those that the header has are in the page
errors()
{
	local e
	for e in $(grep -oE '\bE(NXIO|INVAL|NOSYS|ACCES|NOSPC|BUSY)\b' "$1" |
		sort -u); do
		grep -q "^\.It Bq Er $e\$" "$2" || { echo "$e"; return 1; }
	done
}

ok "pmc(3) has every function as it is declared" exact "$pages/pmc.3" \
	"$lib/pmc/libpmc.map" "$lib/pmc/pmc.h"
ok "... in its list of names" named "$pages/pmc.3" "$lib/pmc/libpmc.map"
ok "... and says what it does" said "$pages/pmc.3" "$lib/pmc/libpmc.map"
ok "... and how it fails" errors "$lib/pmc/pmc.h" "$pages/pmc.3"
ok "pmclog(3) has every function as it is declared" exact "$pages/pmclog.3" \
	"$lib/pmclog/libpmclog.map" "$lib/pmclog/pmclog.h" "$lib/pmclog/pmclog_iter.h"
ok "... in its list of names" named "$pages/pmclog.3" "$lib/pmclog/libpmclog.map"
ok "... and says what it does" said "$pages/pmclog.3" "$lib/pmclog/libpmclog.map"
for page in pmc.3 pmclog.3; do
	if command -v groff >"$tmp/which"; then
		clean() { [ -z "$(groff -mandoc -ww -z -Tutf8 "$pages/$page" 2>&1)" ]; }
		ok "$page can be shown" clean
	else
		skip "$page can be shown" "no groff"
	fi
done

done_testing
