#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Root reads what other users have made: their programs do not show root's files, and
# what root writes is not given to them.
. "$(dirname "$0")/lib.sh"

if [ "$(id -u)" -ne 0 ]; then
	skip "files of others" "not root"
	done_testing
	exit
fi
chmod 711 "$tmp"

# a program that says that its lines are those of a file that only root can read
seq -f 'secret %g' 200 >"$tmp/secret"
chmod 600 "$tmp/secret"
{ echo "#line 1 \"$tmp/secret\""; cat "$HERE/programs/hotloop.c"; } >"$tmp/hot.c"
${CC:-cc} -g -O1 -no-pie -fno-pie -o "$tmp/hot" "$tmp/hot.c"
"$tmp/hot" >"$tmp/pcs"
{
	load 7 0 "$tmp/hot"
	sed 's/.*/sample 1 7 &/' "$tmp/pcs"
} | prog_log l hot
chmod 755 "$tmp/hot"
# annotated [ARG]...: with these options and that log
annotated()
{
	"$pmclog" annotate hot "${@:-$tmp/l}" >"$tmp/annotated" &&
		grep -q '| secret:[0-9]' "$tmp/annotated"
}
shows() { annotated "$@" && grep -q 'secret [0-9]' "$tmp/annotated"; }
hides() { annotated "$@" && ! grep -q 'secret [0-9]' "$tmp/annotated"; }
ok "source of one's own program" shows

# copies belong to whoever made them: the program of an archive, a kernel beside the log
mkdir -p "$tmp/archive/root$tmp"
cp "$tmp/l" "$tmp/archive/log.pmclog"
cp "$tmp/hot" "$tmp/archive/root$tmp"
ok "a program of an archive: not what only its user can read" hides "$tmp/archive"
ok "nor one below --root" hides -r "$tmp/archive/root" "$tmp/l"
ok "but what is below --source-root" shows --source-root / "$tmp/archive"
printf '#line 7 "%s"\nvoid hot(void)\n{\n}\n' "$tmp/secret" |
	${CC:-cc} -g -c -fno-pie -x c -o "$tmp/kernel.o" -
ld -Ttext=0xffffffff81000000 -e hot -o "$tmp/vmlinux" "$tmp/kernel.o"
log k <<-EOF
	kernel 0xffffffff81000000 hot
	event cpu-clock 1000
	sample 1 7 0xffffffff81000000
EOF
ok "the user's own kernel" shows -k "$tmp/vmlinux" "$tmp/k"
mv "$tmp/vmlinux" "$tmp/k.kallsyms"
ok "a kernel beside the log" hides "$tmp/k"
rm "$tmp/k.kallsyms"
chmod 644 "$tmp/secret"
ok "a program of an archive: what everybody can read" shows "$tmp/archive"
chmod 600 "$tmp/secret"
chown nobody "$tmp/hot"
ok "another user's program: not what he could not read" hides
chmod 644 "$tmp/secret"
ok "what everybody can read" shows
mkdir -m 700 "$tmp/private"
mv "$tmp/secret" "$tmp/private"
sed -i "s|$tmp/secret|$tmp/private/secret|" "$tmp/hot.c"
${CC:-cc} -g -O1 -no-pie -fno-pie -o "$tmp/hot" "$tmp/hot.c"
chown nobody "$tmp/hot"
ok "not in a directory that he could not enter" hides
chown nobody "$tmp/private/secret"
ok "his own" shows

# a file that is there before, in a directory like /tmp
mkdir -m 1777 "$tmp/sticky"
install -o nobody -m 666 /dev/null "$tmp/sticky/page"
before=$(stat -c %i "$tmp/sticky/page")
not_given()
{
	# the kernel may refuse to open it
	"$pmclog" html -o "$tmp/sticky/page" "$tmp/l" >/dev/null 2>&1
	[ "$(stat -c %i "$tmp/sticky/page")" = "$before" ]
}
ok "a new file is not given to whoever made one before" not_given
mkdir "$tmp/his"
chown nobody "$tmp/his"
install -o nobody -m 640 /dev/null "$tmp/his/page"
"$pmclog" html -o "$tmp/his/page" "$tmp/l" >/dev/null
ok "in his own directory it stays his" same "nobody 640" \
	stat -c '%U %a' "$tmp/his/page"

done_testing
