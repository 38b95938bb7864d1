# SPDX-License-Identifier: BSD-2-Clause
# LIB_DIRS: the folders of tools/lib
#
# Optional libraries: their linker flags, empty if the library is missing.  The
# includer sets CC, with CROSS in it, and LIBS_STATIC=1 for programs that take the .a.

LIB_DIRS := pmc unwind pmclog

# $(call have,HEADER,FUNCTION,LIBRARIES): LIBRARIES, when a program links with them
hash	:= \#
have	= $(shell printf '$(hash)include <%s>\nint main(void){return !%s;}\n' \
	  '$(1)' '$(2)' | $(CC) $(if $(LIBS_STATIC),-static) -x c - \
	  -o /dev/null $(3) 2>/dev/null && echo $(3))

ZSTD_LIBS := $(call have,zstd.h,ZSTD_decompressStream,-lzstd)
ZLIB_LIBS := $(call have,zlib.h,uncompress,-lz)
# what libpmc inflates sections with
INFLATE_LIBS := $(ZLIB_LIBS) $(ZSTD_LIBS)
# all that pmclog is linked with
READER_LIBS := -Wl,--as-needed -ldw -lelf -llzma -liberty -lcapstone -lncursesw \
	-lz -lm $(ZSTD_LIBS)

# pmcstat --bpf: libbpf for the machine that programs are built for, and on this one
# clang for BPF and bpftool, which Debian has where only root's PATH looks. BPF_ROOT is a
# tree with that libbpf, for a compiler that has none.
BPF_ARCH := $(firstword $(if $(filter x86_64-%,$(shell $(CC) -dumpmachine)),x86) \
	    $(if $(filter aarch64-%,$(shell $(CC) -dumpmachine)),arm64))
BPF_TRIPLET := $(if $(filter x86,$(BPF_ARCH)),x86_64,aarch64)-linux-gnu
BPFTOOL	?= $(firstword $(wildcard $(addsuffix /bpftool,$(subst :, ,$(PATH)) /usr/sbin)))
BPF_CLANG ?= $(shell command -v clang 2>/dev/null)
ifneq ($(and $(BPF_ARCH),$(BPFTOOL),$(BPF_CLANG)),)
BPF_INCLUDES := $(if $(BPF_ROOT),-idirafter $(BPF_ROOT)/usr/include)
BPF_LIBS := $(if $(BPF_ROOT),-L$(BPF_ROOT)/usr/lib/$(BPF_TRIPLET)) -lbpf -lelf -lz
BPF_LIBS := $(or $(call have,bpf/bpf.h,bpf_map_create,$(BPF_INCLUDES) $(BPF_LIBS)), \
	    $(call have,bpf/bpf.h,bpf_map_create,$(BPF_INCLUDES) $(BPF_LIBS) -lzstd))
endif
