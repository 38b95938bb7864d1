#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The commands info, dump and verify as a user meets them.
# shellcheck source=../lib/tap.sh source-path=SCRIPTDIR
. "$(dirname "$0")/../lib/tap.sh"
bin=${BIN:?} pmclog=$BIN/pmclog golden=$here/golden

run()
{
	"$pmclog" "$@"
}

# golden FILE COMMAND...: the output is that of the committed file
golden()
{
	local want=$golden/$1
	shift
	run "$@" >"$tmp/got" && diff -u "$want" "$tmp/got"
}

# unpacked LOG PLAIN KIND [OPTION]: the dump is that of the log without packs, but for where
# its records are, and has the committed digest
unpacked()
{
	"$bin/mklog" "$2" "$tmp/plain" &&
	run dump "${@:4}" "$tmp/plain" >"$tmp/want" &&
	run dump "${@:4}" "$golden/$1.pmclog" >"$tmp/got" &&
	diff -u <(placeless "$tmp/want") <(placeless "$tmp/got") &&
	sha256sum <"$tmp/got" | diff -u "$golden/$1.$3.sha256" -
}
placeless() { sed 's/"offset":[0-9]*,//' "$1"; }

generated()
{
	"$bin/mklog" "$1" "$tmp/log" && cmp "$golden/$1.pmclog" "$tmp/log"
}

# json FILE: every record is an object with the members all have
json()
{
	run dump --json "$1" >"$tmp/json" &&
	jq -e -s 'length > 0 and all(has("record") and has("offset") and
		  has("tsc"))' "$tmp/json" &&
	[ "$(wc -l <"$tmp/json")" = "$(run dump "$1" | grep -vc '^\.\.\.')" ]
}

# plain: neither control characters nor bad UTF-8 in "$tmp/got"
plain()
{
	run dump "$1" >"$tmp/got"
	iconv -f UTF-8 -t UTF-8 "$tmp/got" >/dev/null &&
	! LC_ALL=C tr -d '\n' <"$tmp/got" | LC_ALL=C grep -q '[[:cntrl:]]'
}

help_of()
{
	prints 0 "^usage: pmclog $1 .*FILE$" run "$1" --help
}

piped()
{
	run "$1" "$golden/full.pmclog" >"$tmp/a" &&
	head -c 1G "$golden/full.pmclog" | run "$1" - >"$tmp/b" &&
	cmp "$tmp/a" "$tmp/b"
}

# comes FILE PATTERN: a line of FILE, which is being written
comes()
{
	soon grep -q -e "$2" "$1" || ! echo "no line like $2"
}

# What there is is printed while the log goes on, and all of it in the end.
live()
{
	local to reader
	rm -f "$tmp/pipe"
	mkfifo "$tmp/pipe"
	run dump - <"$tmp/pipe" >"$tmp/live" &
	reader=$!
	exec {to}>"$tmp/pipe"
	head -c 1000 "$golden/full.pmclog" >&"$to"
	comes "$tmp/live" '^create      1000 ' || return
	tail -c +1001 "$golden/full.pmclog" >&"$to"
	exec {to}>&-
	wait "$reader" && run dump "$golden/full.pmclog" >"$tmp/a" &&
	cmp "$tmp/a" "$tmp/live"
}

to_full()
{
	exits 1 run "$@" >/dev/full 2>"$tmp/err" &&
	grep -q "cannot write: No space left" "$tmp/err"
}

for log in small full strings packed periods details; do
	ok "generated log $log is the golden one" generated $log
	plain=
	case $log in
	packed) plain=stacks ;;
	periods) plain=rates ;;
	esac
	for kind in dump json; do
		opt=()
		[ $kind = dump ] || opt=(-j)
		if [ "$plain" ]; then
			ok "$kind of $log" unpacked $log $plain $kind "${opt[@]}"
		else
			ok "$kind of $log" golden $log.$kind dump "${opt[@]}" "$golden/$log.pmclog"
		fi
	done
	ok "info on $log" golden $log.info info "$golden/$log.pmclog"
	ok "JSON of $log is JSON" json "$golden/$log.pmclog"
	ok "dump of $log can go to a terminal" plain "$golden/$log.pmclog"
	ok "$log verifies" prints 0 "^ok: " run verify "$golden/$log.pmclog"
done
"$bin/mklog" twice "$tmp/twice"
packs()
{
	unpacked packed stacks dump &&
	run dump --raw "$golden/packed.pmclog" >"$tmp/b" &&
	grep -q '^userdata    hwpmc samples samples=[0-9]* tsc=' "$tmp/b" &&
	! grep -q '^callchain' "$tmp/b"
}

ok "packed samples are dumped like others, or raw" packs
ok "info tells the size of packed samples" prints 0 \
	"^packed .* 60 samples in [0-9]* packs, [0-9.]* bytes a sample" \
	run info "$golden/packed.pmclog"
ok "what there is is dumped while the log goes on" live
ok "two logs in a file" prints 0 "2 logs in one" run verify "$tmp/twice"
ok "info on two logs" prints 0 "at offset 572" run info "$tmp/twice"

for cmd in info dump verify; do
	ok "$cmd --help" help_of $cmd
	ok "help $cmd" prints 0 "^usage: pmclog $cmd .*FILE$" run help $cmd
	ok "$cmd without a file" prints 2 "^usage: pmclog $cmd" run $cmd
	ok "$cmd with two files" prints 2 "^usage: pmclog $cmd" run $cmd a b
	ok "$cmd with a wrong option" prints 2 "^pmclog $cmd: invalid option" run $cmd -Z x
	ok "$cmd of no file" prints 1 "/nowhere: No such file" run $cmd /nowhere
	ok "$cmd of a directory" prints 1 "/: is a directory without a log" run $cmd /
	ok "$cmd of something else" prints 1 "offset 0: not a pmclog" \
		run $cmd "$0"
	ok "$cmd of standard input" piped $cmd
	ok "$cmd onto a full disk" to_full $cmd "$golden/full.pmclog"
	ok "$cmd --help onto a full disk" to_full $cmd --help
	head -c 1000 "$golden/full.pmclog" >"$tmp/cut"
	ok "$cmd of a cut log" prints 1 "offset 992: truncated record" \
		run $cmd "$tmp/cut"
done
ok "verify names file and offset" \
	prints 1 "^$tmp/cut: offset 992: truncated record$" \
	run verify "$tmp/cut"
for zip in gzip xz bzip2; do
	$zip -c "$golden/full.pmclog" >"$tmp/zipped"
	ok "a log that $zip has compressed" prints 1 "compressed by $zip: read it through $zip -dc" \
		run info "$tmp/zipped"
done
ok "a log without its end" prints 0 "cut, without CLOSELOG" \
	run info <(head -c 992 "$golden/full.pmclog")
ok "help" prints 0 "^  verify " run --help
ok "help of a wrong command" prints 2 'no command "frob"' run help frob
ok "no command" prints 2 "^usage: pmclog COMMAND" run
ok "wrong command" prints 2 'no command "frob"' run frob
ok "help onto a full disk" to_full --help
ok "version onto a full disk" to_full --version
ok "version" prints 0 "^pmclog [0-9]" run --version
done_testing
