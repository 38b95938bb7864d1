# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# For the tests here: the reader's, and a kernel with a light and a heavy function.
. "$(dirname "$0")/../reader/lib.sh"

kallsyms reference outer light heavy end
