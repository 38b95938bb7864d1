# SPDX-License-Identifier: BSD-2-Clause
#
# The end of Makefiles of host tests that run all their PROGS and SCRIPTS; "all" makes
# what these need.

# makes logs from text
$(BIN)/script2log: $(HOST)/script2log.c $(HOST)/loggen.c \
		$(wildcard $(HOST)/*.h $(TOP)/include/uapi/linux/*.h)
	@mkdir -p $(@D)
	@echo "  CC	$(patsubst $(TOP)/%,%,$@)"
	@$(CC) $(FLAGS) $(SAN) -o $@ $(filter %.c,$^)

check: all
	@BIN=$(BIN) INSTALL_BUILD=$(TOP)/build/tools $(HOST)/run-tap $(PROGS) $(SCRIPTS)

clean:
	rm -rf $(BUILD)

.PHONY: all tools check clean
