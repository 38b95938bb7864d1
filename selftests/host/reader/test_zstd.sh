#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A compressed log is read like the log itself, by every command.
. "$(dirname "$0")/lib.sh"

golden=$HERE/../log/golden

# The name does not say it.
zstd -qc "$golden/full.pmclog" >"$tmp/z.pmclog"
zstd -qc "$golden/packed.pmclog" >"$tmp/p.pmclog"
{
	head -c 2000 "$golden/full.pmclog" | zstd -qc
	tail -c +2001 "$golden/full.pmclog" | zstd -qc
} >"$tmp/two.zst"

# alike LOG COMPRESSED COMMAND...: it prints the same of both, but for names
alike()
{
	local plain=$1 packed=$2 a b
	shift 2
	"$pmclog" "$@" "$plain" >"$tmp/a" 2>"$tmp/ae"
	a=$?
	"$pmclog" "$@" "$packed" >"$tmp/b" 2>"$tmp/be"
	b=$?
	[ "$a" = "$b" ] && [ -s "$tmp/a" ] || { cat "$tmp/be"; return 1; }
	sed -i "s|$plain|LOG|" "$tmp/a" "$tmp/ae"
	sed -i "s|$packed|LOG|" "$tmp/b" "$tmp/be"
	cmp "$tmp/a" "$tmp/b" && cmp "$tmp/ae" "$tmp/be"
}

for command in info dump 'dump -j' verify report fold 'flame -t x'; do
	# shellcheck disable=SC2086
	ok "$command" alike "$golden/full.pmclog" "$tmp/z.pmclog" $command
done
ok "of packed samples" alike "$golden/packed.pmclog" "$tmp/p.pmclog" dump
ok "two frames" alike "$golden/full.pmclog" "$tmp/two.zst" dump

from_pipe()
{
	# shellcheck disable=SC2002 # a pipe, not a file
	cat "$tmp/two.zst" | "$pmclog" dump - | diff - "$golden/full.dump"
}
ok "from a pipe" from_pipe

# The program has shown what was there, and says that it is not all.
cut_log()
{
	head -c "$1" "$tmp/two.zst" >"$tmp/cut.zst"
	exits 1 "$pmclog" dump "$tmp/cut.zst" >"$tmp/a" 2>"$tmp/ae" &&
		grep -q "truncated: the compressed log is cut" "$tmp/ae" &&
		[ "$(wc -l <"$tmp/a")" -ge "$2" ] &&
		head -n "$(wc -l <"$tmp/a")" "$golden/full.dump" |
			diff - "$tmp/a"
}
first=$(head -c 2000 "$golden/full.pmclog" | zstd -qc | wc -c)
all=$(wc -c <"$tmp/two.zst")
"$pmclog" dump <(head -c 2000 "$golden/full.pmclog") >"$tmp/whole" 2>/dev/null
whole=$(wc -l <"$tmp/whole")
ok "cut in the first frame" cut_log "$((first - 1))" 0
ok "cut in the second" cut_log "$((all - 6))" "$whole"
ok "report shows what a cut log has" \
	prints 1 'truncated: the compressed' "$pmclog" report "$tmp/cut.zst"

damaged()
{
	{ head -c "$first" "$tmp/two.zst"; echo rubbish; } >"$tmp/bad.zst"
	exits 1 "$pmclog" dump "$tmp/bad.zst" >"$tmp/a" 2>"$tmp/ae" &&
		grep -q "damaged compressed log: " "$tmp/ae" &&
		[ "$(wc -l <"$tmp/a")" = "$whole" ]
}
ok "something else after it" damaged

head -c 400000000 /dev/zero | zstd -q --long=31 --ultra -c >"$tmp/wide.zst"
ok "a window of 2 GiB is refused" \
	prints 1 'a window of more than 128 MiB' "$pmclog" info "$tmp/wide.zst"
head -c 400000000 /dev/zero | zstd -qc >"$tmp/zeros.zst"
ok "400 MB of nothing" prints 1 'not a pmclog' "$pmclog" info "$tmp/zeros.zst"
echo none | zstd -qc >"$tmp/none.zst"
ok "what is no log" prints 1 'not a pmclog' "$pmclog" info "$tmp/none.zst"

# What is built where there is no zstd
without()
{
	local lib=$HERE/../../../tools/lib
	cat >"$tmp/x.c" <<-'END'
		#include <pmclog_iter.h>
		#include <stdio.h>
		int main(void)
		{
			struct pmclog_rec r;
			struct pmclog_iter *it = pmclog_iter_fd(0);
			int n = 0;
			while (pmclog_iter_next(it, &r) > 0)
				n++;
			printf("%d: %s\n", n, pmclog_iter_error(it, NULL));
			return 0;
		}
	END
	${CC:-cc} -D_GNU_SOURCE -I"$lib/pmc" -I"$lib/pmclog" -I"$HERE/../../../include/uapi" \
		-o "$tmp/x" "$tmp/x.c" "$lib"/pmclog/*.c || return
	same "0: compressed log: this program was built without zstd" \
		"$tmp/x" <"$tmp/z.pmclog"
}
ok "built without zstd: it says so" without

done_testing
