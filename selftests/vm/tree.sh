# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# The guest's file tree, which becomes its initramfs. Sourced; sets no variables.
# TREE is its directory.

# tree_base TREE KERNEL-DIR: directories, BusyBox, init, accounts, modules.
tree_base() {
	local tree=$1 dir=$2 here applet
	here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
	# One directory for all programs: as on a system with merged /usr, all
	# paths of a program lead to the same file.
	mkdir -p "$tree"/{dev,proc,sys,tmp,run,root,etc,in,out,hwpmc,selftests,mnt,var/tmp} \
		"$tree"/usr/{bin,lib,lib64}
	ln -s bin "$tree/usr/sbin"
	for link in bin sbin lib lib64; do
		ln -s "usr/$link" "$tree/$link"
	done
	cp "$dir/busybox" "$tree/usr/bin/busybox"
	# Debian's BusyBox has the same applets on all architectures.
	for applet in $(busybox --list); do
		[[ $applet == busybox ]] || ln -s busybox "$tree/usr/bin/$applet"
	done
	cp "$here"/guest/{kmemleak-check,kcsan-check,run-selftests} "$tree/usr/bin"
	cp "$here/guest/init" "$tree/init"
	cp "$here/guest/fstab" "$tree/etc"
	printf '%s\n' root:x:0:0:root:/root:/bin/sh user:x:1000:1000:user:/tmp:/bin/sh \
		nobody:x:65534:65534:nobody:/:/bin/false >"$tree/etc/passwd"
	printf '%s\n' root:x:0: user:x:1000: nogroup:x:65534: >"$tree/etc/group"
	echo "127.0.0.1 localhost" >"$tree/etc/hosts"
	[[ ! -d $dir/modules/lib ]] || cp -a "$dir/modules/lib/." "$tree/usr/lib"
}

# tree_libraries TREE FILE: copies the shared libraries of a program of the host's
# architecture to the same paths.
tree_libraries() {
	local tree=$1 file=$2 library
	# ldd and grep fail for a file that is not a dynamic executable.
	{ ldd "$file" 2>/dev/null | grep -o '/[^ ]*' || true; } | while read -r library; do
		tree_place "$tree" "$library" "$library"
	done
}

# tree_place TREE FILE PATH: copies FILE to PATH of the guest.
tree_place() {
	local tree=$1 file=$2 path=$3
	mkdir -p "$tree$(dirname "$path")"
	cp -rL --remove-destination --preserve=mode,timestamps "$file" "$tree$path"
}

# tree_add TREE FILE PATH: copies FILE, which may be a directory, to PATH of the
# guest, with the libraries that its programs need.
tree_add() {
	local tree=$1 file=$2 path=$3 program
	tree_place "$tree" "$file" "$path"
	find -L "$file" -type f -perm /111 | while read -r program; do
		tree_libraries "$tree" "$program"
	done
}

# tree_pack TREE: the initramfs, uncompressed: emulated CPUs decompress slowly.
tree_pack() {
	local tree=$1
	(cd "$tree" && find . | cpio --quiet -o -H newc -R 0:0)
}
