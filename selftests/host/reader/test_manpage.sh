#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# pmclog(1) has every option that --help tells of: its long name anywhere, and
# in the synopsis of the command, by itself or as one of a group.
. "$(dirname "$0")/lib.sh"
page=$HERE/../../../Documentation/man/pmclog.1
conditions=" pid tid cpu comm time user kernel-mode not "
names=' no-demangle inline by-line debuginfod '

# options COMMAND: a line for each, of letter and long name, "-" for none
options()
{
	"$pmclog" "$1" --help | sed -n 's/^  *\(-.*\)/\1/p' |
		sed 's/  .*//' | grep -oE '(^-[A-Za-z](, )?)?(--[a-z-]+)?' |
		sed -E 's/^-([A-Za-z])(, )?/\1 /; s/^--/- /; s/--//; s/ $/ -/'
}
documented()	# COMMAND
{
	local letter long missing=0 text
	text=$(sed -n '/^\.Sh SYNOPSIS/,/^\.Sh DESC/p' "$page" |
		sed -n "/^\.Cm $1\$/,/^\.Nm/p")
	while read -r -u 3 letter long; do
		[ "$long" = - ] || grep -q "Fl Fl $long\b" "$page" || missing=1
		case $text in
		*condition*names*) [[ $conditions$names = *" $long "* ]] ;;
		*condition*) [[ $conditions = *" $long "* ]] ;;
		*) false ;;
		esac || grep -qE "Fl ($letter|Fl $long)\b" <<<"$text" || missing=1
		[ $missing = 0 ] || { echo "not there: $letter $long"; return 1; }
	done 3< <(options "$1")
}
for cmd in $("$pmclog" --help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
	ok "$cmd" documented "$cmd"
done
found() { [ "$(options filter | sort | head -1)" = "- comm" ] && [ "$(options filter | wc -l)" = 17 ]; }
ok "they are found" found

done_testing
