#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""maxrss.py MB COMMAND...: runs it, and fails if it had more resident memory."""
import os
import resource
import subprocess
import sys

# memory that is freed is no longer resident
options = os.environ.get("ASAN_OPTIONS", "")
os.environ["ASAN_OPTIONS"] = options + ":quarantine_size_mb=1"
status = subprocess.call(sys.argv[2:])
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10
if peak > int(sys.argv[1]):
    sys.exit(f"{sys.argv[2]}: {peak} MB of memory, more than {sys.argv[1]}")
sys.exit(status)
