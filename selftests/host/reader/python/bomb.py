#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""bomb.py KIND OUT: a small ELF file that asks for much memory

	names	40,000 functions, the names of which are the ends of one string; the
		last is "short"
"""
import struct
import sys

TEXT = 0x1000


def section(name, kind, flags=0, at=0, size=0, link=0, info=0, entry=0):
    return struct.pack("<IIQQQQIIQQ", name, kind, flags,
                       at if flags & 2 else 0, at, size, link, info, 1, entry)


class Elf:
    def __init__(self):
        self.data = bytearray(TEXT) + b"\x90" * 16
        self.names = b"\0"
        self.sections = [section(0, 0)]
        self.add(".text", 1, 6, at=TEXT, size=16)

    def add(self, name, kind, flags=0, data=b"", **more):
        if data:
            more.update(at=len(self.data), size=len(data))
            self.data += data
        self.sections.append(section(len(self.names), kind, flags, **more))
        self.names += name.encode() + b"\0"
        return len(self.sections) - 1

    def write(self, path):
        names = self.add(".shstrtab", 3, data=self.names + b".shstrtab\0")
        head = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", 3, 62, 1, TEXT,
                           64, len(self.data), 0, 64, 56, 1, 64,
                           len(self.sections), names)
        head += struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, 1 << 20, 1 << 20, TEXT)
        self.data[:len(head)] = head
        with open(path, "wb") as f:
            f.write(self.data + b"".join(self.sections))


def names(elf):
    count, length = 40000, 60000
    symbols = bytearray(24)
    for i in range(count + 1):
        symbols += struct.pack("<IBBHQQ", 1 + (i % 1000 if i < count else length + 1),
                               0x12, 0, 1, TEXT + i * 16, 16)
    strings = elf.add(".strtab", 3, data=b"\0" + b"A" * length + b"\0short\0")
    elf.add(".symtab", 2, data=symbols, link=strings, info=1, entry=24)


bomb = Elf()
globals()[sys.argv[1]](bomb)
bomb.write(sys.argv[2])
