#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# What the completions of bash and zsh offer for a command line of pmcstat, pmclog and
# pmccontrol. TAP.

# shellcheck source=../lib/tap.sh source-path=SCRIPTDIR
. "$(dirname "$0")/../lib/tap.sh"
completions=$here/../../../contrib/completions
export PATH=$BIN:$PATH LC_ALL=C.UTF-8
cd "$tmp" || exit
mkdir -p nights && touch day.pmclog day.txt nights/one.pmclog

# bash_offers WORD...: what is offered in place of the last WORD, a line each. A colon is a
# WORD of its own for bash.
bash_offers()
{
	local line="$*"
	line=${line// : /:}
	export line
	bash --norc -c '
		. /usr/share/bash-completion/bash_completion
		. "$0/bash/$1"
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE=$line
		COMP_POINT=${#COMP_LINE} COMP_TYPE=9 COMP_KEY=9
		compopt() { :; }
		_"$1" "$1" "${@:$#}" "${@:$#-1:1}"
		printf "%s\n" "${COMPREPLY[@]}"' "$completions" "$@"
}

# offers OFFER,... WORD...: bash offers these, among others.
offers()
{
	local offer
	bash_offers "${@:2}" >"$tmp/.offers" 2>&1
	for offer in ${1//,/ }; do
		grep -qxF -e "$offer" "$tmp/.offers" && continue
		echo "$offer is not offered:"
		cat "$tmp/.offers"
		return 1
	done
}

# only OFFER,... WORD...: ... and no others.
only()
{
	offers "$@" || return
	[ "$(sort -u "$tmp/.offers")" = "$(echo "${1//,/$'\n'}" | sort -u)" ] && return
	cat "$tmp/.offers"
	return 1
}

z()
{
	tmux -S "$tmp/.tmux-$shells" -f /dev/null "$@"
}

# shows REGEX: the screen has it before long.
shows()
{
	local tries
	for ((tries = 0; tries < 200; tries++)); do
		z capture-pane -p >"$tmp/.screen"
		grep -Eq -e "$1" "$tmp/.screen" && return
		sleep 0.1
	done
	grep . "$tmp/.screen"
	return 1
}

shells=0

zsh_begin()
{
	# a server that is about to end takes no sessions
	shells=$((shells + 1))
	z new-session -d -x 100 -y 40 "cd $tmp; exec zsh -f" || return
	z send-keys "fpath=($completions/zsh \$fpath); autoload -U compinit; compinit -D -u; PS1='zsh''> '" Enter
	shows '^zsh>'
}

# becomes LINE WORD: in zsh, a LINE that is typed and completed has WORD in it.
becomes()
{
	local status=0
	zsh_begin || return
	z send-keys -l "$1"
	z send-keys Tab Tab
	shows "$2([ ]|\$)" || status=1
	z kill-server
	return $status
}

# keys: those that pmclog sorts by, a line each, as it names them when it is asked for another
keys()
{
	pmclog report -s "" "$tmp/day.pmclog" 2>&1 | sed -n 's/.*keys.*, are //p' | tr -d , | xargs -n 1 | sort
}

# same_keys COMMAND...: it prints the same keys
same_keys()
{
	keys >"$tmp/.keys"
	[ -s "$tmp/.keys" ] && "$@" | sort | diff "$tmp/.keys" -
}
zsh_keys()
{
	sed -n 's/.*--sort) _sequence compadd - \(.*\) ;;$/\1/p' "$completions/zsh/_pmcstat" | xargs -n 1
}
help_keys()
{
	pmclog report --help | sed -n '/--sort KEYS/,/--slice/p' | sed 's/.* by //; s/(.*)//; s/--slice.*//' |
		grep -ow '[a-z_]*' | grep -vx or
}

bash_cpu()
{
	[ "$(bash_offers pmcstat -c 1,0)" = 1,0 ]
}

# Rows are in use only where there is a module: a stand-in lists some.
mkdir -p "$tmp/nights/rows"
cat >"$tmp/nights/rows/pmccontrol" <<'END'
#!/bin/sh
cat <<'ROWS'
#N   NAME             CLASS  STATE    ROW-DISP
 3   SOFT-3           SOFT   ENABLED  FREE
 17  SOFT-17          SOFT   DISABLED FREE
ROWS
END
chmod +x "$tmp/nights/rows/pmccontrol"

with_rows()
{
	local PATH=$tmp/nights/rows:$PATH
	"$@"
}

events=$(pmcstat -L | awk 'NR <= 3 { print $1 }' | paste -sd ,)

echo "TAP version 13"
ok "bash: options of pmcstat" offers -P,--packed,--flight,-O pmcstat -
ok "bash: a group of letters is no option" exits 1 offers -Cd pmcstat -
ok "bash: an option by its beginning" only --flight pmcstat --fl
ok "bash: events" offers "$events" pmcstat -S ""
ok "bash: events of one that has other options before" offers "$events" pmcstat -d -O log -p ""
ok "bash: the log to read" only day.pmclog,nights pmcstat -R ""
ok "bash: a directory" only nights pmcstat -r n
ok "bash: a program to record" offers bash pmcstat -P cpu-clock bas
ok "bash: a program to record, after a budget" offers bash pmcstat --budget 1 -P cpu-clock bas
ok "bash: CPUs, after others" bash_cpu
ok "bash: a log of each node" only node pmcstat --writers ""
ok "bash: options of a command that is recorded" offers --color pmcstat -S cycles ls --colo
ok "bash: behind an event with a colon" offers --color pmcstat -S cycles : u ls --colo
ok "bash: behind a tracepoint" offers --color pmcstat -d -S sched : sched_switch -P cs ls --colo
ok "bash: commands of pmclog" offers report,flame,export,symbolize pmclog ""
ok "bash: options of a command" offers --callers,--tree pmclog report --
ok "bash: formats" only pprof,perf-script pmclog export --to p
ok "bash: keys to sort by" only comm,cpu pmclog report -s c
ok "bash: all of them" same_keys bash_offers pmclog report -s ""
ok "zsh: keys to sort by" same_keys zsh_keys
ok "pmclog report --help: keys to sort by" same_keys help_keys
ok "bash: a log" only day.pmclog,nights pmclog report ""
ok "bash: files, if there is no log" only day.txt pmclog report day.t
ok "bash: options of pmccontrol" offers -l,-s pmccontrol -
ok "bash: its command" only doctor pmccontrol d
ok "bash: a row to disable" with_rows only 3,17 pmccontrol -d ""
if [ -x "$(command -v zsh)" ] && [ -x "$(command -v tmux)" ]; then
	ok "zsh: options of pmcstat" becomes "pmcstat --fl" "pmcstat --flight"
	ok "zsh: events" becomes "pmcstat -S instr" "pmcstat -S instructions"
	ok "zsh: an event among others" becomes "pmcstat -P branch-m" branch-misses
	ok "zsh: a program to record" becomes "pmcstat -P cpu-clock tou" touch
	ok "zsh: commands of pmclog" becomes "pmclog exp" "pmclog export"
	ok "zsh: options of a command" becomes "pmclog report --call" "pmclog report --callers"
	ok "zsh: formats" becomes "pmclog export --to spee" speedscope
	ok "zsh: a log" becomes "pmclog report da" "pmclog report day.pmclog"
	ok "zsh: options of pmccontrol" becomes "pmccontrol -" -s
	ok "zsh: its command" becomes "pmccontrol do" "pmccontrol doctor"
	ok "zsh: a row to enable" with_rows becomes "pmccontrol -e 1" "pmccontrol -e 17"
else
	skip "zsh: what it offers" "zsh or tmux is not there"
fi
done_testing
