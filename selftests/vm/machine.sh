# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# How QEMU is started for a cached kernel. Sourced.

# The guest's kernel command line, all architectures. An oops ends the guest at
# once: -no-reboot turns the panic's reboot into an exit. Emulated CPUs that are
# sampled all the time leave nothing to a thread that is as nice as khugepaged: if
# it was preempted while it read under RCU, that looks like a stall.
machine_append="loglevel=7 printk.time=1 oops=panic panic=-1 net.ifnames=0"
machine_append+=" transparent_hugepage=never rcupdate.rcu_cpu_stall_timeout=100"

# machine KERNEL-DIR ACCEL
#
# Sets machine_qemu, the command and the options that depend on the kernel, and
# adds to machine_append. The transport of virtio devices is in machine_virtio.
# shellcheck disable=SC2034
machine() {
	local dir=$1 accel=$2
	# With a thread per CPU, QEMU before 8.1 may keep the old translation of code
	# that one CPU patches while another translates it (its commit deba78709a,
	# Red Hat bug 2216496), and run that for ever: a stale int3 on x86; a static
	# key that stays as it was, so that perf is not told of a switch of tasks and
	# follows the contexts of others. Debug and kcsan have no such keys, and need
	# CPUs that run at the same time.
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
			# Once the emulated CMPXCHG16B of SLUB came back with
			# part of RAX in the flags, and a double fault. Page
			# tables of five levels, and string operations byte by
			# byte, which ERMS makes a kernel prefer, are slow to
			# emulate.
			machine_qemu+=(-cpu "max,-cx16,-erms,-la57")
		fi
		machine_virtio=pci
		# On a busy host the clocksource watchdog takes delayed
		# virtual CPUs for a broken TSC.
		machine_append+=" console=ttyS0 tsc=reliable"
		;;
	arm64)
		# The default pointer authentication is slow to emulate.
		machine_qemu=(qemu-system-aarch64 -M "virt,gic-version=3" -accel "$accel"
			-cpu "max,pauth-impdef=on")
		machine_virtio=pci
		machine_append+=" console=ttyAMA0"
		;;
	esac
	case $(cat "$dir/release") in
	*-hwpmc-debug)
		machine_virtio=device
		machine_append+=" irqchip.gicv3_pseudo_nmi=1 kmemleak=on"
		;;
	*-hwpmc-kcsan)
		machine_virtio=device
		# No NMIs: KCSAN takes a spinlock to report.
		#
		# Tasks wait long to be raced with: the other emulated CPU is
		# slow, and the host may be busy. Interrupts do not, or those
		# of counters would follow each other endlessly; their accesses
		# meet those that tasks watch.
		machine_append+=" kcsan.udelay_task=1000"
		machine_append+=" kcsan.udelay_interrupt=2"
		;;
	esac
	machine_qemu+=(-kernel "$dir/image" -nodefaults -no-user-config -no-reboot
		-display none -monitor none -nic none)
}
