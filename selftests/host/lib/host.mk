# SPDX-License-Identifier: BSD-2-Clause
#
# What the Makefiles of host tests share. Of the includer: HERE, its folder, with a
# slash at the end. Every test_*.c is a program, every test_*.sh a script; the tools
# are built with sanitizers, once for all folders.

TOP	:= $(abspath $(HERE)/../../..)
TOOLS	:= $(TOP)/tools
HOST	:= $(TOP)/selftests/host/lib
BUILD	?= $(TOP)/build/tools-asan
BIN	:= $(BUILD)/bin
SANITIZE := address,undefined
CC	?= cc
CLANG	?= clang
include $(TOOLS)/libs.mk
FLAGS	:= -O1 -g -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Wno-unused-parameter -Wshadow -Werror \
	   -fno-omit-frame-pointer $(LIB_DIRS:%=-I$(TOOLS)/lib/%) -I$(TOP)/include/uapi -I$(HOST)
SAN	:= -fsanitize=$(SANITIZE) -fno-sanitize-recover=all

PROGS	:= $(patsubst $(HERE)%.c,$(BIN)/%,$(wildcard $(HERE)test_*.c))
SCRIPTS	:= $(wildcard $(HERE)test_*.sh)

# before the names of what is to be built of the tools
MAKE_TOOLS = $(MAKE) --no-print-directory -C $(TOOLS) BUILD=$(BUILD) \
	   SANITIZE=$(SANITIZE) CFLAGS="-O1 -g"
