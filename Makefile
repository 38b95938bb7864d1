# SPDX-License-Identifier: GPL-2.0-only
#
# make			hwpmc.ko for the running kernel, and the tools
# make KDIR=DIR		... for the kernel whose headers are in DIR
# make module | tools	only one of the two
# make install		module and tools, then depmod and ldconfig; with DESTDIR=DIR below it,
#			and without these two
# make uninstall	removes the files that make install has put there; with the same
#			arguments
#
# make demo		records a workload in a virtual machine and reports it
# make check		all tests that need no kernel, each kernel test on one kernel at
#			least, those that depend on the kernel on several
#			(selftests/short), and what samples once more with interrupts
#			that are NMIs; on the debug kernel only if it is in the cache already
# make check-full	all kernel tests on all kernels; a test that passes at the second
#			attempt only has failed. Then stress-ng, 72 CPUs, Secure Boot, packages
#			in machines with Debian 12 and 13, the fuzzer of the module
# make check-KERNEL	all on that one; debug and debug-amd64 have all checkers on, kcsan
#			looks for data races
# make check-nmipmu	what samples, with interrupts that are NMIs: selftests/nmipmu
#			(these three also write Documentation/measured/matrix.rst)
# make storm		twenty minutes of all that can go wrong at once, on the debug
#			kernel
# make faults		each allocation and each copy of every operation fails once, in
#			loading the module, too; on the debug kernel
# make stock-load	stress-ng's stressors, recorded; STOCK_SECONDS each (2)
# make fuzz		pmclog on hostile logs, ELF files and symbols, for FUZZ_SECONDS
#			each (1200)
# make fuzz-coverage	what of the code that reads logs and files the fuzzers reach
# make fuzz-kernel	the module by programs of calls, guided by what they reach, there,
#			for FUZZ_SECONDS (600); REPLAY=FILE... runs these inputs
# make bench-kernel	what recording costs, in instructions, beside perf
# make bench-phases	... and where they go; bench-scaling: with more CPUs,
#			owners, PMCs, processes
# make bench-build	counts of a real build, beside perf stat's
# make bench-chains	how whole user chains of the machine's programs are, beside perf's;
#			of Debian 13's with DEBIAN=13
# make bench-writer	how many samples a second the writer thread can take, from 1 to 512 CPUs
# make bench-reader	how fast pmclog reads, beside perf report and perf script
# make sparse		static analysis of the module, against all kernels
# make dkms-check	the module as a DKMS package
# make deb		Debian packages, in build/deb
#
# make build/KERNEL/hwpmc.ko	the module for a kernel of the tests: 6.1 6.12
#			6.12-rt 6.18 newest 6.12-arm64 debug debug-amd64 kcsan; KERNEL-lines: with line
#			numbers, for the kernel's faddr2line
# make guest		programs for the virtual machines (guest-amd64, -arm64)
# make tools-arm64	pmclog for those of arm64, with libraries of Debian's packages
# make clean		removes what was built, but not the cache of kernels

KDIR ?= /lib/modules/$(shell uname -r)/build

# selftests/vm/kernel says what they are.
KERNELS := 6.1 6.12 6.12-rt 6.18 newest 6.12-arm64
# ... with interrupts that are NMIs, which nmipmu makes on x86
NMIPMU	:= $(patsubst %,nmipmu:%,$(filter-out %-arm64,$(KERNELS)))
# ... and on two kinds of CPU
HYBRID	:= $(patsubst nmipmu:%,hybrid:%,$(NMIPMU))
CROSS_arm64 := aarch64-linux-gnu-

.PHONY: all module tools install uninstall demo check check-full check-nmipmu storm faults stock-load fuzz fuzz-coverage fuzz-kernel sparse \
	dkms-check deb guest \
	bench-kernel bench-phases bench-scaling bench-build bench-writer bench-reader bench-chains \
	guest-amd64 guest-arm64 tools-arm64 clean FORCE
.DELETE_ON_ERROR:

all: tools module

module:
	@test -e '$(KDIR)/Makefile' || { echo "hwpmc: no kernel headers at $(KDIR):" \
		"install linux-headers-$$(uname -r) or set KDIR=" >&2; exit 1; }
	$(MAKE) -C '$(KDIR)' M='$(CURDIR)' modules

tools:
	$(MAKE) -C tools

# INSTALL_MOD_PATH is Kbuild's name for DESTDIR.
INSTALL_MOD_PATH ?= $(DESTDIR)

# Kbuild leaves depmod out where headers have no System.map, as Debian's, so it is told to
# leave it to us.  What is installed below DESTDIR goes to a machine with other modules,
# whose index must stay.
index_modules = $(if $(DESTDIR),,PATH=$$PATH:/usr/sbin:/sbin depmod \
	$(if $(INSTALL_MOD_PATH),-b '$(INSTALL_MOD_PATH)') \
	"$$(cat '$(KDIR)/include/config/kernel.release')")

install: all
	$(MAKE) -C '$(KDIR)' M='$(CURDIR)' INSTALL_MOD_PATH='$(INSTALL_MOD_PATH)' \
		DEPMOD=/bin/true modules_install
	$(index_modules)
	$(MAKE) -C tools install

uninstall: module
	scripts/uninstall '$(INSTALL_MOD_PATH)' -C '$(KDIR)' M='$(CURDIR)' DEPMOD=/bin/true modules_install
	$(index_modules)
	$(MAKE) -C tools uninstall

# Whether anything is to do is for Kbuild to find out.
build/%/hwpmc.ko: FORCE
	@scripts/build-module $*

guest: guest-amd64 guest-arm64

# Of the libraries for another architecture, pmcstat --bpf needs one that the compiler for
# it has not.
guest-amd64 guest-arm64: guest-%:
	$(if $(CROSS_$*),tree=$$(selftests/vm/programs $*) || tree=; )$(MAKE) -C tools guest \
		OUT='$(CURDIR)/build/guest-$*' STATIC=1 CROSS=$(CROSS_$*)$(if $(CROSS_$*), BPF_ROOT="$$tree")
	$(MAKE) -C selftests guest OUT='$(CURDIR)/build/guest-$*' CROSS=$(CROSS_$*)

tools-arm64:
	@tree=$$(selftests/vm/programs arm64) && \
	$(MAKE) -C tools BUILD='$(CURDIR)/build/tools-arm64' CC="$(CROSS_arm64)gcc --sysroot=$$tree" \
		AR=$(CROSS_arm64)ar '$(CURDIR)/build/tools-arm64/bin/pmclog'

sparse:
	@scripts/sparse $(KERNELS)

# The longest steps first, so that none of them is left at the end.
check:
	@scripts/setup
	@scripts/check short:host short:6.12 $(patsubst %,short:%,$(filter-out 6.12,$(KERNELS))) nmipmu:6.12 hybrid:6.12 short:debug

check-full:
	@scripts/setup
	@status=0; \
	HWPMC_STRICT=1 scripts/matrix scripts/check 6.12-arm64 host $(filter-out 6.12-arm64,$(KERNELS)) $(NMIPMU) $(HYBRID) debug nmipmu:debug-amd64 || status=1; \
	scripts/matrix selftests/stock-load || status=1; \
	selftests/many-cpus || status=1; \
	selftests/secure-boot || status=1; \
	selftests/deb-test 13 || status=1; \
	selftests/deb-vm 12 || status=1; \
	selftests/deb-vm 13 || status=1; \
	selftests/fuzz-kernel/run || status=1; \
	exit $$status

check-nmipmu:
	@scripts/setup
	@scripts/matrix scripts/check $(NMIPMU) $(HYBRID)

check-%:
	@scripts/setup
	@scripts/matrix scripts/check $*

storm:
	@scripts/setup
	@HWPMC_STORM_SECONDS=$${HWPMC_STORM_SECONDS:-1200} selftests/run-kselftests debug chaos

faults:
	@scripts/setup
	@HWPMC_FAULTS_LONG=1 selftests/run-kselftests debug \
		$(basename $(notdir $(sort $(wildcard selftests/kselftest/faults/faults*.c))))

stock-load: tools guest-amd64 build/6.12/hwpmc.ko
	@scripts/setup check stock
	@selftests/stock-load 6.12 $(STOCK_SECONDS)

fuzz:
	@scripts/setup
	$(MAKE) -C selftests/fuzz fuzz

fuzz-coverage:
	@scripts/setup
	$(MAKE) -C selftests/fuzz coverage

bench-kernel bench-phases bench-scaling bench-build bench-writer bench-reader bench-chains:
	@scripts/setup
	@bench/$@

fuzz-kernel:
	@scripts/setup
	@selftests/fuzz-kernel/run $(REPLAY)

dkms-check:
	@selftests/dkms-test

# What the packages take, Debian knows from debian/control.
deb:
	@scripts/setup deb
	@test "$$(id -u)" = 0 || dpkg-checkbuilddeps
	@dpkg-checkbuilddeps 2>/dev/null || { apt-get -q update && apt-get -q build-dep -y --no-install-recommends ./; }
	@scripts/deb

demo:
	@scripts/demo

clean:
	rm -rf build
	test ! -e '$(KDIR)/Makefile' || $(MAKE) -C '$(KDIR)' M='$(CURDIR)' clean
	$(MAKE) -C tools clean
