# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Sets up QEMU's command line for a cached kernel. Sourced.

# The guest's kernel command line, for all architectures. An oops ends the guest at
# once: -no-reboot turns the panic's reboot into an exit. khugepaged has the lowest
# priority and starves while emulated CPUs are sampled; if it was preempted in an
# RCU read section, that is reported as a stall.
machine_sockets=""
machine_append="loglevel=7 printk.time=1 oops=panic panic=-1 net.ifnames=0"
machine_append+=" transparent_hugepage=never rcupdate.rcu_cpu_stall_timeout=100"

# machine KERNEL-DIR ACCEL
#
# Sets machine_qemu, the command and the options that depend on the kernel, and
# adds to machine_append. The transport of virtio devices is in machine_virtio;
# machine_sockets is set if each CPU must have a socket.
# shellcheck disable=SC2034
machine() {
	local dir=$1 accel=$2
	# With a thread per CPU, QEMU before 8.1 may keep the old translation of
	# code that one CPU patches while another translates it (QEMU commit
	# deba78709a, Red Hat bug 2216496), and execute it for ever: a stale
	# int3 on x86, or a stale static key, so that perf is not told of task
	# switches and counts for other tasks. debug and kcsan have no such
	# keys, and need CPUs that run in parallel.
	if [[ $accel == tcg ]] &&
		! grep -qxs "# CONFIG_JUMP_LABEL is not set" "$dir/kdir/.config"; then
		accel=tcg,thread=single
	fi
	case $(cat "$dir/arch") in
	x86_64)
		machine_qemu=(qemu-system-x86_64 -M pc -accel "$accel")
		if [[ $accel == kvm ]]; then
			machine_qemu+=(-cpu host)
		else
			# The emulated CMPXCHG16B of SLUB once returned with
			# part of RAX in the flags: a double fault. Five-level
			# page tables, and byte-wise string operations, which a
			# kernel prefers with ERMS, are slow to emulate.
			machine_qemu+=(-cpu "max,-cx16,-erms,-la57")
		fi
		machine_virtio=pci
		# On a busy host the clocksource watchdog mistakes delayed
		# virtual CPUs for a broken TSC, and the test of the timer
		# finds that no interrupt has come.
		machine_append+=" console=ttyS0 tsc=reliable no_timer_check"
		;;
	arm64)
		# The default pointer authentication is slow to emulate.  48-bit
		# addresses, like nearly all processors: Debian's kernel is built for
		# 52, and must not rely on it.
		machine_qemu=(qemu-system-aarch64 -M "virt,gic-version=3" -accel "$accel"
			-cpu "max,pauth-impdef=on,lpa2=off")
		machine_virtio=pci
		machine_append+=" console=ttyAMA0"
		;;
	esac
	case $(cat "$dir/release") in
	*-hwpmc-debug)
		machine_virtio=device
		machine_append+=" irqchip.gicv3_pseudo_nmi=1 kmemleak=on"
		;;
	*-hwpmc-debug-amd64)
		# KASAN makes ACPI's interpreter so slow that it gives up. The
		# firmware's older table lists one CPU of each socket.
		machine_append+=" kmemleak=on acpi=off"
		machine_sockets=1
		;;
	*-hwpmc-kcsan)
		machine_virtio=device
		# No NMIs: KCSAN takes a spinlock to report.
		#
		# Tasks wait long at a watchpoint: the other emulated CPU is
		# slow, and the host may be busy. Interrupts do not wait, or
		# those of counters would follow each other without end; their
		# accesses are found by watchpoints of tasks.
		machine_append+=" kcsan.udelay_task=1000"
		machine_append+=" kcsan.udelay_interrupt=2"
		;;
	esac
	machine_qemu+=(-kernel "$dir/image" -nodefaults -no-user-config -no-reboot
		-display none -monitor none -nic none)
}

# machine_clock BUILD: the argument for the kernel with the frequency of an emulated
# TSC, which is the host's. A guest that measures it on a busy host may get a value
# seven times too high or low, which changes all its timeouts. The program that asks
# for it is built in BUILD.
machine_clock() {
	local program=$1/tsc_khz here khz
	here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
	if [[ ! $program -nt $here/tsc_khz.c ]]; then
		mkdir -p "$1"
		gcc -O2 -Wall -Werror -o "$program.$$" "$here/tsc_khz.c"
		mv "$program.$$" "$program"
	fi
	khz=$("$program")
	[[ ! $khz ]] || echo "tsc_early_khz=$khz"
}
