#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Each option that "pmcstat --help" has is understood, and is in pmcstat(8) and in both
# completions: after an option with a value these complete the value, after another one a
# command. TAP.

# The functions that ok() runs look unreachable to shellcheck.
# shellcheck disable=SC2317
# shellcheck source=../lib/tap.sh source-path=SCRIPTDIR
. "$(dirname "$0")/../lib/tap.sh"
top=$here/../../..
page=$top/Documentation/man/pmcstat.8
bash=$top/contrib/completions/bash/pmcstat
zsh=$top/contrib/completions/zsh/_pmcstat
export PATH=$BIN:$PATH LC_ALL=C.UTF-8
cd "$tmp" || exit

# options: a line each; letters of a group as single ones
options()
{
	pmcstat --help | grep -Eo '(^|[[ ])(-[A-Za-z]+\>|--[a-z][a-z-]*)' | tr -d '[ ' |
		sed -E '/^-[^-]/ { s/^-//; s/(.)/-\1\n/g }' | grep . | sort -u
}

# said OPTION...: what pmcstat says of a command line that lacks something, and thus records nothing
said()
{
	timeout 20 pmcstat "$@" </dev/null 2>&1
}
takes_a_value() { said "$1" | grep -q -e "^pmcstat: $1 needs an argument"; }

understood()
{
	local option
	while read -r option; do
		{ said "$option"; said "$option" x; } | grep -a '^pmcstat: unknown option' && return 1
	done <all
	return 0
}

# documented PAGE: in the synopsis, by itself or in a group, and with a description
documented()
{
	local option name group synopsis bad=0
	synopsis=$(sed -n '/^\.Sh SYNOPSIS/,/^\.Sh DESC/p' "$1")
	while read -r option; do
		name=${option#-}
		group=""
		[[ $name == -* ]] || group="|[A-Za-z]*${name}[A-Za-z]*"
		grep -Eq "^(\.Op )?\.?Fl ($name$group)( |\$)" <<<"$synopsis" || { echo "$option: no synopsis"; bad=1; }
		grep -q "^\.It Fl $name\b" "$1" || { echo "$option: not described"; bad=1; }
	done <all
	return $bad
}

# words REGEX FILE: what it matches in the function for pmcstat, a line each
words() { sed -En '/^_(hwpmc_)?pmcstat\(\)/,/^}/p' "$2" | grep -Eo -e "$1" | tr -d "'"; }

# waits OPTION: the completion takes the next word for its value
waits()
{
	local regex
	for regex in "${regexes[@]}"; do
		[[ $1 =~ $regex ]] && return
	done
	return 1
}

# completes OPTION: the completion has something for the value
completes()
{
	local pattern
	for pattern in "${patterns[@]}"; do
		# shellcheck disable=SC2053 # a pattern
		[[ $1 == $pattern ]] && return
	done
	return 1
}

completed()
{
	local option bad=0 regexes patterns
	mapfile -t regexes < <(words '\^--?[^ ]*\$' "$1")
	mapfile -t patterns < <(words '^	(-[^ )]*( \| )?)+\)' "$1" | tr -d ' \t)' | tr '|' '\n')
	while read -r option; do
		if grep -qxF -e "$option" valued; then
			waits "$option" || { echo "$option: its value is a command"; bad=1; }
			completes "$option" || { echo "$option: its value is not completed"; bad=1; }
		else
			! waits "$option" || { echo "$option: it has no value"; bad=1; }
			[[ $option == --* ]] || waits "${option}P" || { echo "$option: not before -P"; bad=1; }
		fi
	done <all
	return $bad
}

# missed CHECK FILE CHANGE: the same with one thing wrong is found.
missed()
{
	sed -E "$3" "$2" >changed
	! cmp -s "$2" changed && ! "$1" changed
}

enough() { [ "$(wc -l <all)" -gt 50 ] && [ "$(wc -l <valued)" -gt 30 ]; }

options >all
while read -r option; do
	takes_a_value "$option" && printf "%s\n" "$option"
done <all >valued
echo "TAP version 13"
ok "options, and those that take a value" enough
ok "each is understood" understood
ok "pmcstat(8) has each of them" documented "$page"
ok "one that is not in the synopsis" missed documented "$page" '/^\.Op Fl -branch /d'
ok "one that is not described" missed documented "$page" 's/^\.It Fl Z/.It Fl Y/'
for file in "$bash" "$zsh"; do
	ok "${file##*/}: each of them" completed "$file"
	ok "... a letter with a value that is not there" missed completed "$file" 's/\]\*\[a/]*[/'
	ok "... a letter without one" missed completed "$file" 's/-\[A/-[/'
	ok "... a word" missed completed "$file" 's/\|writers/|writer/'
	ok "... nothing for the value" missed completed "$file" '/^	-\*f\) /d'
done
done_testing
