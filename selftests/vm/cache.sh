# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# The cache of what is downloaded or built once. Sourced.

shopt -s inherit_errexit

hwpmc_cache=${XDG_CACHE_HOME:-$HOME/.cache}/hwpmc

# cache_entry NAME COMMAND...
#
# Prints the directory of entry NAME. If it does not exist, COMMAND DIR fills a
# temporary directory, which is then renamed. So an interrupted COMMAND leaves no
# partial entry. If two processes want an entry, one waits for the other. With
# hwpmc_cached_only a missing entry is a failure.
cache_entry() {
	local key=$1 entry=$hwpmc_cache/$1
	shift
	[[ -d $entry || ! ${hwpmc_cached_only:-} ]] || return 1
	if [[ ! -d $entry ]]; then
		mkdir -p "$hwpmc_cache"
		(
			flock 9
			[[ ! -d $entry ]] || exit 0
			# Left by a process that was killed.
			rm -rf "$entry".tmp.*
			tmp=$(mktemp -d "$entry.tmp.XXXXXX")
			trap 'rm -rf "$tmp"' EXIT
			"$@" "$tmp" >&2
			chmod 755 "$tmp"
			mv -T "$tmp" "$entry"
			trap - EXIT
			# The status must not be tested here: that would disable
			# "set -e" in COMMAND.
		) 9>"$hwpmc_cache/.$key.lock"
	fi
	echo "$entry"
}

# cache_download PACKAGE[=VERSION] [APT-OPTION...]
#
# Downloads PACKAGE into the current directory and prints the file's path.
cache_download() {
	local package=$1
	shift
	if ! apt-get "$@" -q -o APT::Sandbox::User=root download "$package" >&2; then
		echo "Debian may have a newer $package by now:" \
			"apt-get update, then upgrade the linux-headers packages" >&2
		return 1
	fi
	find "$PWD" -maxdepth 1 -name "${package%=*}_*.deb"
}
