# SPDX-License-Identifier: GPL-2.0-only
#
# make			hwpmc.ko for the running kernel, and the tools
# make KDIR=DIR		... for the kernel whose headers are in DIR
# make module | tools	only one of the two
# make install		module (depmod follows) and tools
#
# make demo		records a workload in a virtual machine and reports it
# make check		all tests but those on the debug kernel
# make check-debug	the kernel tests on a kernel with all checkers on
# make sparse		static analysis of the module, against all kernels
# make dkms-check	the module as a DKMS package
#
# make build/KERNEL/hwpmc.ko	the module for a kernel of the tests: 6.1 6.12
#			6.12-rt 6.12-arm64 debug
# make guest		programs for the virtual machines (guest-amd64, -arm64)
# make clean		removes what was built, but not the cache of kernels

KDIR ?= /lib/modules/$(shell uname -r)/build

KERNELS := 6.1 6.12 6.12-rt 6.12-arm64
CROSS_arm64 := aarch64-linux-gnu-

.PHONY: all module tools install demo check check-debug sparse dkms-check guest \
	guest-amd64 guest-arm64 clean FORCE
.DELETE_ON_ERROR:

all: tools module

module:
	@test -e '$(KDIR)/Makefile' || { echo "hwpmc: no kernel headers at $(KDIR):" \
		"install linux-headers-$$(uname -r) or set KDIR=" >&2; exit 1; }
	$(MAKE) -C '$(KDIR)' M='$(CURDIR)' W=1 modules

tools:
	$(MAKE) -C tools

install: all
	$(MAKE) -C '$(KDIR)' M='$(CURDIR)' modules_install
	$(MAKE) -C tools install

# Whether anything is to do is for Kbuild to find out.
build/%/hwpmc.ko: FORCE
	@scripts/build-module $*

guest: guest-amd64 guest-arm64

guest-amd64 guest-arm64: guest-%:
	$(MAKE) -C tools guest OUT='$(CURDIR)/build/guest-$*' STATIC=1 CROSS=$(CROSS_$*)
	$(MAKE) -C selftests guest OUT='$(CURDIR)/build/guest-$*' CROSS=$(CROSS_$*)

sparse:
	@scripts/sparse $(KERNELS)

check:
	@scripts/setup
	@scripts/check host $(KERNELS)

check-debug:
	@scripts/setup
	@scripts/check debug

dkms-check:
	@selftests/dkms-test

demo:
	@scripts/demo

clean:
	rm -rf build
	test ! -e '$(KDIR)/Makefile' || $(MAKE) -C '$(KDIR)' M='$(CURDIR)' clean
	$(MAKE) -C tools clean
