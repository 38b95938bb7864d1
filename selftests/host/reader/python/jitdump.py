#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""jitdump.py [big] [v8] [ticks] [machine=N]: makes a jitdump of lines of text.

	load TIME ADDR CODE NAME	CODE: bytes in hexadecimal, or *SIZE
	move TIME INDEX ADDR		of the load with that number, from 0 on
	lines TIME ADDR {ADDR LINE FILE}...	of the load that follows
	close TIME
	record TYPE SIZE		any one, of zeros
	bytes HEX			as they are
A "_" in a name is a blank.
"""
import struct
import sys

END = ">" if "big" in sys.argv else "<"
machine = [int(a[8:]) for a in sys.argv if a.startswith("machine=")] or [62]
out = sys.stdout.buffer
index = 0


def num(s):
    return sum(int(n, 0) for n in s.split("+"))


def pack(fmt, *values):
    return struct.pack(END + fmt, *values)


def record(kind, time, body):
    out.write(pack("IIQ", kind, 16 + len(body), time) + body)


def name(s):
    return s.replace("_", " ").encode("latin-1").decode("unicode_escape").encode("latin-1") + b"\0"


out.write(pack("IIIIIIQQ", 0x4A695444, 1, 40, machine[0],
               0xDEADBEEF if "v8" in sys.argv else 0, 7, 0, "ticks" in sys.argv))
for line in sys.stdin:
    w = line.split()
    if not w or w[0] == "#":
        continue
    if w[0] == "load":
        code = bytes(num(w[3][1:])) if w[3][0] == "*" else bytes.fromhex(w[3])
        addr = num(w[2])
        record(0, num(w[1]), pack("IIQQQQ", 7, 7, addr, addr, len(code), index) +
               name(w[4]) + code)
        index += 1
    elif w[0] == "move":
        record(1, num(w[1]), pack("IIQQQQQ", 7, 7, 0, 0, num(w[3]), 0, num(w[2])))
    elif w[0] == "lines":
        rows = [w[i:i + 3] for i in range(3, len(w), 3)]
        record(2, num(w[1]), pack("QQ", num(w[2]), len(rows)) +
               b"".join(pack("QII", num(a), num(n), 0) + name(f) for a, n, f in rows))
    elif w[0] == "close":
        record(3, num(w[1]), b"")
    elif w[0] == "record":
        record(num(w[1]), 0, bytes(num(w[2]) - 16))
    elif w[0] == "bytes":
        out.write(bytes.fromhex(w[1]))
    else:
        sys.exit("jitdump.py: " + line)
