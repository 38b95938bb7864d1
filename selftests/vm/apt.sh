# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Runs apt with configuration and state of its own in the cache, for other
# architectures and releases. The host's architectures, sources and package lists
# stay unchanged. Sourced, after cache.sh.

# apt_options NAME ARCHITECTURE
#
# Prints the options, one a line, that make apt use state NAME.
apt_options() {
	local state=$hwpmc_cache/apt-$1
	printf '%s\n' -o "APT::Architecture=$2" -o "APT::Architectures=$2" \
		-o "Dir::State=$state" -o "Dir::State::status=$state/status" \
		-o "Dir::Cache=$state/cache" \
		-o "Dir::Etc::sourcelist=$state/sources.list" -o Dir::Etc::sourceparts=-
}

# apt_update NAME SOURCES OPTION...
#
# Updates the package lists of state NAME; SOURCES prints its sources.list. Once a
# day is enough to notice a new kernel. Without a network the old lists are used.
apt_update() (
	state=$hwpmc_cache/apt-$1 sources=$2
	shift 2
	mkdir -p "$state"/{lists,cache/archives}/partial
	flock 9
	[[ -z $(find "$state/updated" -mtime -1 2>/dev/null) ]] || exit 0
	: >"$state/status"
	"$sources" >"$state/sources.list"
	if apt-get "$@" -q --error-on=any -o Acquire::Retries=1 -o Acquire::http::Timeout=20 update >&2; then
		touch "$state/updated"
	elif [[ -e $state/updated ]]; then
		echo "apt-get update has failed: going on with the lists of $(date -r "$state/updated" +%F)" >&2
	else
		exit 1
	fi
) 9>"$hwpmc_cache/.apt-$1.lock"

# apt_sources FORMAT [FILTER...]: a line for each of the machine's Debian sources.
apt_sources() {
	local format=$1
	shift
	apt-get indextargets 'Created-By: Packages' 'Origin: Debian' "$@" --format "$format" | sort -u
}

# apt_mirror: the URL of the host's Debian mirror.
apt_mirror() {
	local codename mirror
	codename=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
	# apt substitutes this, not the shell.
	# shellcheck disable=SC2016
	mirror=$(apt_sources '$(REPO_URI)' "Codename: $codename" | head -n 1)
	[[ $mirror ]] || {
		echo "apt knows no Debian mirror: run apt-get update" >&2
		return 1
	}
	echo "${mirror%/}"
}
