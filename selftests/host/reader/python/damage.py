#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""damage.py FILE OUT SEED: a copy of an ELF file with some of its DWARF wrong"""
import random
import subprocess
import sys

path, out, seed = sys.argv[1], sys.argv[2], int(sys.argv[3])
random.seed(seed)
data = bytearray(open(path, "rb").read())
sections = []
for row in subprocess.run(["readelf", "-SW", path], text=True, check=True,
                          capture_output=True).stdout.splitlines():
    word = row.replace("[ ", "[").split()
    if len(word) > 5 and word[1].startswith(".debug_"):
        sections.append((int(word[4], 16), int(word[5], 16)))
for i in range(random.choice([1, 4, 30, 300])):
    at, size = random.choice(sections)
    data[at + random.randrange(size)] = random.choice(
        [0, 0xff, 0x7f, 0x80, random.randrange(256)])
open(out, "wb").write(data)
