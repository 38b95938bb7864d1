#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# pmccontrol doctor on machines that are made up, each with one thing wrong.
# usage: doctor.sh DOCTOR_IN
# The functions that ok() runs look unreachable to shellcheck.
# shellcheck disable=SC2317
# shellcheck source=../lib/tap.sh source-path=SCRIPTDIR
. "$(dirname "$0")/../lib/tap.sh"
doctor_in=$1
release=6.12.9-test
m=$tmp/m
modules=lib/modules/$release
dkms=var/lib/dkms/hwpmc
efivars=sys/firmware/efi/efivars
global=8be4df61-93ca-11d2-aa0d-00e098032b8c
shim=605dab50-e046-4300-abb6-3dd810dd8b23
export HOME=$tmp/home
unset XDG_CACHE_HOME
mkdir "$HOME"
# the caller: uid, groups
who=("$(id -u)" 100)

# put FILE LINE...: a file of the machine
put()
{
	mkdir -p "$m/$(dirname "$1")"
	printf '%s\n' "${@:2}" >"$m/$1"
}

gone()
{
	rm -rf "${m:?}/$1"
}

# variable NAME: of the firmware, with what is read; four bytes of attributes come first
variable()
{
	mkdir -p "$m/$efivars"
	{ printf '\006\000\000\000'; cat; } >"$m/$efivars/$1"
}

# A machine on which all is well
machine()
{
	chmod -R u+rwx "$m" "$HOME" 2>/dev/null
	rm -rf "${m:?}" "$HOME/.cache"
	who=("$(id -u)" 100)
	put $modules/build/Makefile
	put $modules/modules.dep kernel/a.ko: "updates/dkms/hwpmc.ko: kernel/a.ko"
	put $modules/updates/dkms/hwpmc.ko code "~Module signature appended~"
	put sys/module/hwpmc/initstate live
	put sys/module/hwpmc/parameters/perf_rules N
	put sys/module/module/parameters/sig_enforce N
	put sys/kernel/security/lockdown "[none] integrity confidentiality"
	put sys/class/misc/hwpmc/dev 1:3
	mkdir -p "$m/dev"
	ln -s /dev/null "$m/dev/hwpmc"
	put proc/sys/kernel/perf_event_paranoid 3
	put proc/sys/kernel/kptr_restrict 0
	put proc/sys/kernel/modules_disabled 0
	put proc/kallsyms "0000000000000000 A percpu" "ffffffff81000000 T _text"
	put etc/os-release ID=debian
	put etc/passwd root:x:0:0:root:/root:/bin/sh alice:x:1000:1000::/:/bin/sh
	put etc/group root:x:0: bobs:x:7654:bob friends:x:7655:bob,alice
}

unloaded()
{
	machine
	gone sys/module/hwpmc
	gone sys/class/misc
	gone dev/hwpmc
}

# says STATUS LINE [COMMAND...]: a line that begins like LINE, with the COMMANDs below it,
# or none
says()
{
	local status=0 below at
	"$doctor_in" "$m" $release "${who[@]}" >"$tmp/said" 2>&1 || status=$?
	[[ $status == "$1" ]] || { echo "status $status, not $1"; cat "$tmp/said"; return 1; }
	grep -qe "^$2" "$tmp/said" || { echo "no line like $2"; cat "$tmp/said"; return 1; }
	at=$(grep -n -m1 -e "^$2" "$tmp/said")
	below=$(tail -n +$((${at%%:*} + 1)) "$tmp/said" | sed -n '/^ \{13\}/!q; s/^ *//p')
	[[ $below == "$(printf '%s\n' "${@:3}")" ]] && return
	echo "the command is \"$below\", not \"${*:3}\""
	return 1
}

# with NAME=VALUE COMMAND...
with()
{
	env_name=${1%%=*}
	export "${1?}"
	local got=0
	"${@:2}" || got=$?
	unset "$env_name"
	return $got
}

machine
ok "all is well" says 0 "ok       recording: the whole system can be recorded, kernel and user"
ok "nothing to note" test "$(grep -vc '^ok ' "$tmp/said")" = 0
ok "a line for each check" test "$(wc -l <"$tmp/said")" = 14

# Headers
headers="those of $release are missing"
gone $modules/build
ok "no headers, but a module" says 0 "note     kernel headers: $headers; that matters" \
	"apt install linux-headers-$release"
gone sys/module/hwpmc
ok "not even loaded" says 1 "note     kernel headers: $headers; that matters" \
	"apt install linux-headers-$release"
unloaded
gone $modules
ok "no headers and no module" says 1 "problem  kernel headers: $headers: the module" \
	"apt install linux-headers-$release"
put etc/os-release 'NAME="A B"' 'ID="rocky"' 'ID_LIKE="rhel centos fedora"'
ok "of another distribution" says 1 "problem  kernel headers: " "dnf install kernel-devel-$release"
put etc/os-release ID=opensuse-leap 'ID_LIKE="suse opensuse"'
ok "of a third one" says 1 "problem  kernel headers: " "zypper install kernel-default-devel"
put etc/os-release ID=other
ok "of an unknown one" says 1 "problem  kernel headers: "
gone etc/os-release
ok "of none" says 1 "problem  kernel headers: "
mkdir -p "$m/$modules"
ln -s /nowhere "$m/$modules/build"
ok "a link that leads nowhere" says 1 "problem  kernel headers: "

# A kernel that can run the module, with faults that are not the module's
release=6.16.3-test modules=lib/modules/6.16.3-test
unloaded
ok "6.16, built" says 1 "note     module: built for .*hwpmc.ko; perf of 6.16 and 6.17 has faults"
gone $modules/updates
put $modules/modules.dep kernel/a.ko:
put usr/src/hwpmc-0.1.0/dkms.conf
ok "6.16, not built" says 1 "problem  module: dkms .* does not build it for 6.16.3-test unasked: perf of 6.16" \
	"dkms install hwpmc/0.1.0 -k 6.16.3-test"
release=6.12.9-test modules=lib/modules/6.12.9-test

# The module's file
unloaded
ok "a module that dkms has installed" says 1 "ok       module: built for $release: /$modules/updates/dkms/hwpmc.ko$"
for suffix in .gz .xz .zst; do
	mv "$m/$modules"/updates/dkms/hwpmc.ko{,$suffix}
	put $modules/modules.dep updates/dkms/hwpmc.ko$suffix:
	ok "$suffix" says 1 "ok       module: built for .*hwpmc.ko$suffix$"
	mv "$m/$modules"/updates/dkms/hwpmc.ko{$suffix,}
done
put "$modules/up;reboot/hwpmc.ko"
put $modules/modules.dep "up;reboot/hwpmc.ko:"
ok "a name that is none" says 1 "problem  module: .*updates/dkms/hwpmc.ko is there" "depmod -a"
put $modules/modules.dep kernel/hwpmc.ko: updates/dkms/hwpmc.ko.old: updates/dkms/hwpmc_2.ko:
ok "modprobe does not know it" says 1 "problem  module: .*updates/dkms/hwpmc.ko is there, but modprobe" "depmod -a"
printf '%01023d' 0 >"$m/$modules/modules.dep"
echo updates/dkms/hwpmc.ko: >>"$m/$modules/modules.dep"
ok "what only looks like a line" says 1 "problem  module: .*hwpmc.ko is there, but modprobe" "depmod -a"
gone $modules/updates
mkdir -p "$m/usr/sbin"
touch "$m/usr/sbin/dkms"
sources="make clean && mkdir -p /usr/src/hwpmc-0.1.0 && cp -r Kbuild Makefile dkms.conf src include /usr/src/hwpmc-0.1.0"
ok "there is none" says 1 "problem  module: there is no hwpmc below /$modules, and dkms does not" \
	"$sources && dkms add hwpmc/0.1.0 && dkms install hwpmc/0.1.0 -k $release"
put usr/share/doc/hwpmc-tools/copyright
ok "the tools are a package" says 1 "problem  module: there is no hwpmc below /$modules; the package" \
	"apt install ./hwpmc-dkms_0.1.0_all.deb"
gone usr/share
mkdir -p "$m/usr/share/licenses/hwpmc-libs"
ok "... of a distribution with rpm" says 1 "problem  module: there is no hwpmc below /$modules; the package" \
	"dnf install ./hwpmc-dkms-0.1.0-*.noarch.rpm"
gone usr/share
gone usr
ok "nor dkms" says 1 "problem  module: there is no hwpmc" "make module && make install"
put usr/src/hwpmc-0.1.0/dkms.conf
ok "there are sources for dkms" says 1 "problem  module: dkms has hwpmc/0.1.0, but it is not built for" \
	"dkms install hwpmc/0.1.0 -k $release"
mkdir -p "$m/$dkms/0.9/source" "$m/$dkms/0.10/source" "$m/$dkms/0.11" "$m/$dkms/1; reboot/source"
ok "dkms knows its newest version" says 1 "problem  module: dkms has hwpmc/0.10, but it is not built for" \
	"dkms install hwpmc/0.10 -k $release"
log=$dkms/0.10/build/make.log
put $log "DKMS make.log for hwpmc-0.10 for kernel $release (x86_64)" begin \
	$'src/main.c:1: Error: \e[31mno' "another error"
ok "dkms has failed" says 1 "problem  module: dkms failed to build .*/$log says: src/main.c:1: Error: ?\[31mno$" \
	"dkms install hwpmc/0.10 -k $release"
put $log "DKMS (dkms-3.2.2) make.log for hwpmc/0.10 for kernel $release (x86_64)" \
	"hwpmc: cannot be built for this kernel"
ok "a newer dkms" says 1 "problem  module: dkms failed .* says: hwpmc: cannot be built" \
	"dkms install hwpmc/0.10 -k $release"
put $log "DKMS make.log for hwpmc-0.10 for kernel $release-2 (x86_64)" "an error"
ok "for another kernel" says 1 "problem  module: dkms has hwpmc/0.10, but it is not built" \
	"dkms install hwpmc/0.10 -k $release"
mkdir -p "$m/$dkms/0.10/$release/x86_64"
ok "built, not installed" says 1 "problem  module: dkms has built hwpmc/0.10 .*not installed" \
	"dkms install hwpmc/0.10 -k $release"
machine
gone $modules/updates
ok "loaded by hand" says 0 "note     module: there is none below"

# Signatures
unloaded
key=var/lib/dkms/mok.pub
enforce="signature: the kernel takes only signed modules"
put $key "a certificate, which is not as short as a line of text usually is"
printf '\001' | variable SecureBoot-$global
ok "Secure Boot, but no need of a signature" says 1 "ok       signature: the kernel needs none; Secure Boot is on"
printf '\000' | variable SecureBoot-$global
ok "Secure Boot is off" says 1 "ok       signature: the kernel needs none; Secure Boot is off"
printf '\001' | variable SecureBoot-$global
put sys/kernel/security/lockdown "none [integrity] confidentiality"
ok "a key that is not enrolled" says 1 "problem  $enforce, and /$key is not enrolled; restart" \
	"mokutil --import /$key"
gone sys/kernel/security
ok "without securityfs" says 1 "problem  $enforce, and /$key is not enrolled" "mokutil --import /$key"
printf '\000' | variable SecureBoot-$global
put sys/module/module/parameters/sig_enforce Y
ok "the kernel alone enforces it" says 1 "problem  $enforce, and /$key is not enrolled" "mokutil --import /$key"
{ echo another; cat "$m/$key"; } | variable MokNew-$shim
ok "a key that waits" says 1 "problem  signature: the firmware has not enrolled /$key yet" reboot
{ echo another; cat "$m/$key"; echo third; } | variable MokListRT-$shim
ok "a key that is enrolled" says 1 "ok       $enforce, and /$key is enrolled"
gone $efivars/MokListRT-$shim
mkdir "$m/sys/firmware/efi/mok-variables"
cp "$m/$key" "$m/sys/firmware/efi/mok-variables/MokListRT"
ok "a long list" says 1 "ok       $enforce, and /$key is enrolled"
mkdir -p "$m/var/lib/shim-signed/mok"
{ cat "$m/$key"; echo other; } >"$m/var/lib/shim-signed/mok/MOK.der"
ok "Ubuntu's key, elsewhere" says 1 "ok       $enforce, and /$key is enrolled"
put etc/os-release ID=ubuntu ID_LIKE=debian
ok "Ubuntu's key" says 1 "problem  $enforce, and /var/lib/shim-signed/mok/MOK.der is not" \
	"mokutil --import /var/lib/shim-signed/mok/MOK.der"
put etc/os-release NAME=Mint ID=linuxmint 'ID_LIKE="ubuntu debian"'
ok "... and of those that are like it" says 1 "problem  $enforce, and /var/lib/shim-signed/mok/MOK.der is not" \
	"mokutil --import /var/lib/shim-signed/mok/MOK.der"
put etc/os-release ID=debian ID_LIKE=ubuntus
ok "... of no others" says 1 "ok       $enforce, and /$key is enrolled"
put etc/os-release ID=debian
put etc/dkms/framework.conf '# mok_certificate=/no' 'mok_certificate="/etc/keys/a b;c.der"'
put etc/keys/mine.der "a certificate that nobody enrolled, which is not as short as a line of text"
put etc/dkms/framework.conf.d/mine.conf "mok_certificate=/etc/keys/mine.der"
ok "an administrator's key" says 1 "problem  $enforce, and /etc/keys/mine.der is not" \
	"mokutil --import /etc/keys/mine.der"
gone etc/dkms/framework.conf.d
ok "a name that is none" says 1 "ok       $enforce, and /$key is enrolled"
gone etc/dkms
gone var/lib/shim-signed
gone $key
ok "another key than dkms'" says 1 "note     $enforce; whether it knows the key of .* cannot be seen"
put $key "a certificate, which is not as short as a line of text usually is"
gone sys/firmware
ok "keys that cannot be seen" says 1 "note     $enforce; whether /$key is enrolled cannot be seen"
put $modules/updates/dkms/hwpmc.ko "~Module signature appended~" code
ok "no signature" says 1 "problem  $enforce, and /$modules/updates/dkms/hwpmc.ko is not signed" \
	"/lib/modules/$release/build/scripts/sign-file sha256 /var/lib/dkms/mok.key /$key /$modules/updates/dkms/hwpmc.ko"
mkdir -p "$m/$dkms/0.1.0/source"
ok "no signature, by dkms" says 1 "problem  $enforce, and .* is not signed" \
	"dkms build --force hwpmc/0.1.0 -k $release && dkms install --force hwpmc/0.1.0 -k $release"
gone $key
gone $dkms
request="openssl req -new -x509 -newkey rsa:2048 -nodes -days 36500 -subj /CN=hwpmc/ -outform DER"
ok "no signature, no dkms, no key" says 1 "problem  $enforce, and .* is not signed: a key is made by openssl, which is missing" \
	"apt install openssl" "$request -keyout /root/hwpmc-key.key -out /root/hwpmc-key.der" \
	"/lib/modules/$release/build/scripts/sign-file sha256 /root/hwpmc-key.key /root/hwpmc-key.der /$modules/updates/dkms/hwpmc.ko" \
	"mokutil --import /root/hwpmc-key.der && reboot"
mkdir -p "$m/$dkms/0.1.0/source"
ok "no signature, and dkms has no key" says 1 "problem  $enforce, and .* is not signed: dkms makes its key by openssl, which is missing" \
	"apt install openssl" \
	"dkms build --force hwpmc/0.1.0 -k $release && dkms install --force hwpmc/0.1.0 -k $release"
put usr/bin/openssl
ok "no key, but a way to make one" says 1 "problem  $enforce, and .*hwpmc.ko is not signed" \
	"dkms build --force hwpmc/0.1.0 -k $release && dkms install --force hwpmc/0.1.0 -k $release"
: >"$m/$modules/updates/dkms/hwpmc.ko"
ok "an empty file" says 1 "problem  $enforce, and .* is not signed" \
	"dkms build --force hwpmc/0.1.0 -k $release && dkms install --force hwpmc/0.1.0 -k $release"
gone $modules/updates
ok "no module yet" says 1 "note     $enforce; this machine has no Secure Boot"
machine
put sys/module/module/parameters/sig_enforce Y
printf '\001' | variable SecureBoot-$global
ok "a module that is loaded" says 0 "ok       signature: the kernel has taken the module; Secure Boot is on"
printf '' | variable SecureBoot-$global
ok "a variable without a value" says 0 "ok       signature: .*; Secure Boot cannot be seen"

# Loaded
unloaded
ok "not loaded" says 1 "problem  loaded: the module is not in the kernel" "modprobe hwpmc"
ok "then there is no device" says 1 "note     device: the module makes it"
ok "and nothing is known of it" says 1 "note     recording: not known before"
put proc/sys/kernel/modules_disabled 1
ok "no more modules" says 1 "problem  loaded: .*kernel.modules_disabled" reboot
machine
put sys/module/hwpmc/initstate going
ok "on its way" says 0 "note     loaded: the module is on its way: going"

# Lockdown
machine
put sys/kernel/security/lockdown "none [integrity] confidentiality"
ok "locked down for integrity" says 0 "ok       lockdown: the kernel is locked down for integrity"
put sys/kernel/security/lockdown "none integrity [confidentiality]"
ok "for confidentiality" says 0 "note     lockdown: .*only user mode can be recorded"
ok "what is left then" with FAKE_FAIL=ss:1 says 0 "ok       recording: the whole system can be recorded, in user mode only"
gone sys/kernel/security
ok "lockdown that cannot be seen" says 0 "ok       lockdown: there is none, or"

# The device
machine
gone dev/hwpmc
ok "no node" says 1 "problem  device: there is no /dev/hwpmc" "mknod -m 600 /dev/hwpmc c 1 3"
gone sys/class
ok "of no number" says 1 "problem  device: there is no /dev/hwpmc"
machine
put sys/class/misc/hwpmc/dev 10:127
ok "an old node" says 1 "problem  device: /dev/hwpmc is not the module's device" \
	"rm /dev/hwpmc && mknod -m 600 /dev/hwpmc c 10 127"
machine
ln -sf /etc/passwd "$m/dev/hwpmc"
ok "a file" says 1 "problem  device: /dev/hwpmc is not the module's device" \
	"rm /dev/hwpmc && mknod -m 600 /dev/hwpmc c 1 3"
gone sys/class
ok "a file, of no number" says 1 "problem  device: /dev/hwpmc is not the module's device"
machine
ok "too many owners" with FAKE_FAIL=open:24 says 1 "problem  device: .*max_owners" \
	"echo 1024 >/sys/module/hwpmc/parameters/max_owners"
ok "an error" with FAKE_FAIL=open:5 says 1 "problem  device: /dev/hwpmc cannot be opened: Input"
ok "what the mode admits" with FAKE_FAIL=open:13 says 1 "problem  device: the mode of /dev/hwpmc admits this user"

# node GROUP MODE: a device with these; its number may be any
node()
{
	gone sys/class
	gone dev/hwpmc
	mknod "$m/dev/hwpmc" c 1 3 && chgrp "$1" "$m/dev/hwpmc" && chmod "$2" "$m/dev/hwpmc"
}

refused()
{
	with FAKE_FAIL=open:13 says 1 "$@"
}

trigger="udevadm control --reload && udevadm trigger /sys/class/misc/hwpmc"
machine
if node 7654 660 2>/dev/null; then
	who=(1000 1000)
	ok "a group" refused "problem  device: only members of the group bobs may open" "usermod -aG bobs alice"
	who=(1001 1000)
	ok "a user without a name" refused "problem  device: only members" "usermod -aG bobs USER"
	node 7656 660
	who=(1000 1000)
	ok "a group without a name" refused "problem  device: only members of the group 7656" "usermod -aG 7656 alice"
	node 7655 660
	ok "a session from before" refused "problem  device: alice is a member of the group friends" "newgrp friends"
	who=(1000 1000 7655)
	ok "a member, but refused" refused "problem  device: the mode of /dev/hwpmc admits this user"
	node 7655 600
	ok "root's" refused "problem  device: /dev/hwpmc is root's: run this as root, or lend" \
		"groupadd --system hwpmc && echo 'SUBSYSTEM==\"misc\", KERNEL==\"hwpmc\", GROUP=\"hwpmc\", MODE=\"0660\"' >/etc/udev/rules.d/60-hwpmc.rules && $trigger"
	put etc/group hwpmc:x:999:
	put usr/share/doc/hwpmc/60-hwpmc.rules
	ok "where the group is there" refused "problem  device: /dev/hwpmc is root's" \
		"cp /usr/share/doc/hwpmc/60-hwpmc.rules /etc/udev/rules.d/ && $trigger"
	put etc/udev/rules.d/60-hwpmc.rules
	ok "where the rule is there" refused "problem  device: /dev/hwpmc is root's, although there is a udev rule" "$trigger"
else
	skip "who may open it" "no device can be made here"
fi

# Its version
machine
ok "the tools' version" says 0 "ok       version: the module's interface is that of the tools, 10.0.0$"
ok "an older module" with FAKE_FAIL=open:93 says 1 "problem  version: the module in the kernel is older" \
	"modprobe -r hwpmc && modprobe hwpmc"
ok "another version" with FAKE_VERSION=0x0B020003 says 0 "note     version: the module's interface is 11.2.3, that of the tools 10.0.0"
ok "no version" with FAKE_FAIL=version:25 says 1 "problem  version: the module does not say its version: Inappropriate"

# Recording
ok "nobody may record in user mode either" with FAKE_FAIL=ss:1,ss:u:1,ts:u:1 \
	says 1 "problem  recording: refused; the trace event"
ok "own processes" with FAKE_FAIL=ss:1,ss:u:1 says 0 "ok       recording: this user's own processes can be recorded"
ok "and others'" with FAKE_FAIL=ss:1,ss:u:1 says 0 "ok       processes: this user's, if pmcstat starts them"
ok "a recording that does not begin" with FAKE_FAIL=record:12 says 1 "problem  recording: it fails: Cannot allocate"
ok "too many processes for the trial" with FAKE_FAIL=record:105 says 0 "ok       recording: the whole"
ok "limits" with FAKE_FAIL=ss:122 says 1 "problem  recording: this user has used up" "pmccontrol -l"
ok "disabled rows" with FAKE_FAIL=ss:1,ss:u:1,ts:u:1,rows:1 says 1 "problem  recording: the administrator has disabled" \
	"pmccontrol -e '*'"
ok "no processes, no privilege" with FAKE_FAIL=ss:1,ss:u:1,ts:u:95 says 1 "problem  recording: on this kernel only the whole" \
	"echo Y >/sys/module/hwpmc/parameters/unprivileged_syspmcs"
ok "no processes, but privilege" with FAKE_FAIL=ts:u:95 says 0 "note     processes: they cannot be recorded .*task_work_add"
ok "processes, another error" with FAKE_FAIL=ts:u:12 says 0 "note     processes: they cannot be recorded: Cannot"

# Perf's rules
ok "rules that do not apply" says 0 "ok       perf's rules: they do not apply (perf_rules is off); .*paranoid is 3$"
put sys/module/hwpmc/parameters/perf_rules Y
ok "rules that apply" says 0 "note     perf's rules: they apply .*paranoid is 3: users without privilege"
ok "to this user" with FAKE_FAIL=ss:1,ss:u:1,ts:u:1 says 1 "problem  recording: refused by perf's rules: .*is 3" \
	"sysctl kernel.perf_event_paranoid=1"
put proc/sys/kernel/perf_event_paranoid 1
ok "a level that admits all" says 0 "ok       perf's rules: they apply (perf_rules is set), and .* is 1$"
ok "then it is something else" with FAKE_FAIL=ss:1,ss:u:1,ts:u:1 says 1 "problem  recording: refused; the trace"
put proc/sys/kernel/perf_event_paranoid -1
ok "a negative one" says 0 "ok       perf's rules: .* is -1$"
unloaded
ok "rules that cannot be seen" says 1 "note     perf's rules: whether they apply .*is 3$"

# Chains
machine
ok "chains by tables" says 0 "ok       user chains: by unwind tables, and"
ok "by frame pointers, because of the kernel" with FAKE_FAIL=unwind:95 \
	says 0 "note     user chains: by frame pointers only: this kernel"
ok "because of the module" with FAKE_FAIL=unwind:22 says 0 "note     user chains: by frame pointers only: this module"
ok "for another reason" with FAKE_FAIL=unwind:12 says 0 "note     user chains: by frame pointers only: Cannot"

# The cache of tables
ok "a cache" says 0 "ok       table cache: unwind tables are kept .*$HOME/.cache$"
ok "which is not made" test ! -e "$HOME/.cache"
mkdir -p "$HOME/.cache/hwpmc/unwind"
ok "one that is there" says 0 "ok       table cache: .*$HOME/.cache/hwpmc/unwind$"
chmod 777 "$HOME/.cache/hwpmc"
ok "others may write to it" says 0 "note     table cache: $HOME/.cache/hwpmc is of no use (others"
rm -r "$HOME/.cache/hwpmc"
touch "$HOME/.cache/hwpmc"
ok "a file in its place" says 0 "note     table cache: $HOME/.cache/hwpmc is of no use (it is not a folder)"
ok "another folder" with XDG_CACHE_HOME="$tmp/xdg" says 0 "ok       table cache: .*$tmp/xdg$"
ok "below none" with XDG_CACHE_HOME="$tmp/no/xdg" says 0 "note     table cache: $tmp/no/xdg is of no use (No such"
who=(4242 100)
ok "another user's" says 0 "note     table cache: $HOME is of no use (it belongs to another user)"
who=("$(id -u)" 100)
ok "no folder at all" with XDG_CACHE_HOME= with HOME=none says 0 "note     table cache: neither"
export HOME=$tmp/home

# Symbols
machine
put proc/kallsyms "0000000000000000 A percpu" "0000000000000000 T _text"
put proc/sys/kernel/kptr_restrict 2
ok "hidden addresses" says 0 "note     kernel symbols: .*hides.*kptr_restrict is 2" "sysctl kernel.kptr_restrict=1"
ok "not needed" with FAKE_FAIL=ss:1 says 0 "ok       kernel symbols: not needed in user mode"
put proc/sys/kernel/kptr_restrict 1
ok "hidden from some" says 0 "note     kernel symbols: .*hides.*kptr_restrict is 1"
gone proc/kallsyms
ln -s /dev/zero "$m/proc/kallsyms"
ok "a device in their place" says 0 "note     kernel symbols: /proc/kallsyms cannot be read (Invalid"
rm "$m/proc/kallsyms"
truncate -s 100G "$m/proc/kallsyms"
ok "a file without an end" says 0 "note     kernel symbols: .*hides"
gone proc/kallsyms
ok "no symbols" says 0 "note     kernel symbols: /proc/kallsyms cannot be read"

# Counters
machine
ok "counters" says 0 "ok       hardware counters: the processor counts"
put sys/bus/event_source/devices/cpu_core/cpus 0-7
ok "one kind of core" says 0 "ok       hardware counters: the processor counts"
put sys/bus/event_source/devices/cpu_atom/cpus 8-15
ok "two kinds" says 0 "ok       hardware counters: .*on each: cpu_atom on CPUs 8-15, cpu_core on CPUs 0-7"
put sys/bus/event_source/devices/cpu_atom/cpus ""
ok "all CPUs of a kind are offline" says 0 "ok       hardware counters: the processor counts"
gone sys/bus
ok "none" with FAKE_FAIL=hardware:1 says 0 "note     hardware counters: this machine has none.*cpu-clock"
unloaded
mkdir -p "$m"/sys/bus/event_source/devices/{software,uprobe,cpufreq}
ok "none, without the device" says 1 "note     hardware counters: this machine has none"
for pmu in cpu cpu_core armv8_pmuv3_0; do
	mkdir "$m/sys/bus/event_source/devices/$pmu"
	ok "$pmu" says 1 "ok       hardware counters: "
	rmdir "$m/sys/bus/event_source/devices/$pmu"
done

# What cannot be read, or is rubbish
machine
# survives MACHINE: it ends, with an answer, which is text.
survives()
{
	local status=0
	timeout 20 "$doctor_in" "$1" $release "${who[@]}" >"$tmp/said" 2>&1 || status=$?
	if ((status > 1)) || grep -qaP '[^ -~]' "$tmp/said"; then
		echo "status $status"
		cat "$tmp/said"
		return 1
	fi
}

# rubbish COMMAND...: it is what all files have, one after another
rubbish()
{
	local file
	while read -r -d '' file; do
		"$@" >"$file"
		survives "$m" || { echo "$file"; return 1; }
	done < <(find "$m" -type f -print0)
}

mkdir -p "$m/$dkms/0.1.0/source"
put $dkms/0.1.0/build/make.log "for kernel $release" error
put $key "a certificate, which is not as short as a line of text usually is"
printf '\001' | variable SecureBoot-$global
printf '\001' | variable MokListRT-$shim
tar -C "$m" -cf "$tmp/m.tar" .
ok "empty files" rubbish true
tar -C "$m" -xf "$tmp/m.tar"
ok "random bytes" rubbish head -c 100000 /dev/urandom
tar -C "$m" -xf "$tmp/m.tar"
ok "a line without an end" rubbish sh -c 'head -c 2000000 /dev/zero | tr "\000" ='
unloaded
ok "random bytes, not loaded" rubbish head -c 100000 /dev/urandom
rm -rf "$m"
ok "no files at all" says 1 "problem  loaded: the module is not in the kernel" "modprobe hwpmc"
mkdir -p "$m/proc/sys/kernel" "$m/sys/module/hwpmc" "$m/$modules"
mkfifo "$m/proc/kallsyms" "$m/$modules/modules.dep"
ok "pipes" survives "$m"
ok "a long name" survives "$(printf '/%0600d' 1)"
done_testing
