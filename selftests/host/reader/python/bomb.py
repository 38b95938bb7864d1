#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""bomb.py KIND OUT: a small ELF file that asks for much memory

	names	40,000 functions, the names of which are the ends of one string; the
		last is "short"
	sections	a section table that is a hole
	dies	20,000 functions by DIEs, whose text is in the last of 65,000 sections
	dienames	500 functions by DIEs, whose names are the ends of a string of 1 MB
	files	500 source files in a directory with a name of 1 MB
	zlib, zdebug, strtab	400 MB of zeros in a section: .debug_info, the same
		in the older form, the names of symbols
	zstd	the same, of what zstd -c has compressed on standard input
	last	4,000 sections of a 32-bit file, which are its last 22 bytes:
		128 kB of zeros, compressed
	dwarf	what is compressed well: 60 MB of zeros in .debug_info
"""
import struct
import sys
import zlib as z

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

    def write(self, path, count=0):
        """@count: of sections, most of them in a hole at the file's end"""
        names = self.add(".shstrtab", 3, data=self.names + b".shstrtab\0")
        head = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", 3, 62, 1, TEXT,
                           64, len(self.data), 0, 64, 56, 1, 64,
                           0 if count else len(self.sections), names)
        head += struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, 1 << 20, 1 << 20, TEXT)
        self.data[:len(head)] = head
        if count:
            self.sections[0] = section(0, 0, size=count)
        with open(path, "wb") as f:
            f.write(self.data + b"".join(self.sections))
            f.truncate(len(self.data) + 64 * max(count, len(self.sections)))


def names(elf):
    count, length = 40000, 60000
    symbols = bytearray(24)
    for i in range(count + 1):
        symbols += struct.pack("<IBBHQQ", 1 + (i % 1000 if i < count else length + 1),
                               0x12, 0, 1, TEXT + i * 16, 16)
    strings = elf.add(".strtab", 3, data=b"\0" + b"A" * length + b"\0short\0")
    elf.add(".symtab", 2, data=symbols, link=strings, info=1, entry=24)
    elf.write(sys.argv[2])


def sections(elf):
    elf.write(sys.argv[2], 4000000)


def functions(elf, places, text, empty=0):
    """DIEs of functions, whose names are at places of a text after empty sections"""
    elf.add(".debug_abbrev", 1, data=bytes([
        1, 0x11, 1, 0x11, 1, 0x12, 7, 0, 0,    # a unit: from, size
        2, 0x2e, 0, 3, 14, 0x11, 1, 0x12, 7, 0, 0, 0]))    # a function: and name
    info = struct.pack("<HIBBQQ", 4, 0, 8, 1, TEXT, 16 * len(places))
    for i, place in enumerate(places):
        info += struct.pack("<BIQQ", 2, place, TEXT + 16 * i, 16)
    elf.add(".debug_info", 1, data=struct.pack("<I", len(info) + 1) + info + b"\0")
    for i in range(empty):
        elf.add("", 1)
    elf.add(".debug_str", 1, data=text)
    elf.write(sys.argv[2])


def dies(elf):
    functions(elf, range(0, 200000, 10),
              b"".join(b"func%05d\0" % i for i in range(20000)), 65000)


def dienames(elf):
    functions(elf, range(500), b"A" * (1 << 20) + b"\0")


def files(elf):
    count = 500
    elf.add(".debug_abbrev", 1, data=bytes([
        1, 0x11, 0, 0x10, 0x17, 0x1b, 14, 0x11, 1, 0x12, 7, 0, 0, 0]))
    info = struct.pack("<HIBBIIQQ", 4, 0, 8, 1, 0, 0, TEXT, 16 * count)
    elf.add(".debug_info", 1, data=struct.pack("<I", len(info)) + info)
    head = bytes([1, 1, 1, 0xfb, 14, 10, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0])
    head += b"".join(b"f%d.c\0\0\0\0" % i for i in range(count)) + b"\0"
    rows = b"\0\x09\2" + struct.pack("<Q", TEXT)
    for i in range(1, count + 1):
        rows += bytes([4, i & 127 | 128, i >> 7, 1, 2, 16])    # file, row, 16 bytes on
    rows += b"\0\1\1"
    table = struct.pack("<HI", 4, len(head)) + head + rows
    elf.add(".debug_line", 1, data=struct.pack("<I", len(table)) + table)
    elf.add(".debug_str", 1, data=b"/" + b"d" * (1 << 20) + b"\0")
    elf.write(sys.argv[2])


def zeros(megabytes):
    """Compressed, as one block many times: each begins anew, and the last is empty"""
    packer = z.compressobj(9, wbits=-15)
    block = packer.compress(bytes(1 << 20)) + packer.flush(z.Z_FULL_FLUSH)
    check = 1
    for _ in range(megabytes):
        check = z.adler32(bytes(1 << 20), check)
    return b"\x78\xda" + block * megabytes + packer.flush() + struct.pack(">I", check)


def zlib(elf, megabytes=400, kind=1, data=None):
    data = data or zeros(megabytes)
    head = struct.pack("<IIQQ", kind, 0, megabytes << 20, 1)
    elf.add(".debug_abbrev", 1, data=b"\1\x11\0\0\0\0")
    elf.add(".debug_info", 1, 0x800, data=head + data)
    elf.write(sys.argv[2])


def zstd(elf):
    zlib(elf, kind=2, data=sys.stdin.buffer.read())


def dwarf(elf):
    zlib(elf, 60)


def zdebug(elf):
    elf.add(".debug_abbrev", 1, data=b"\1\x11\0\0\0\0")
    elf.add(".zdebug_info", 1, data=b"ZLIB" + struct.pack(">Q", 400 << 20) + zeros(400))
    elf.write(sys.argv[2])


def strtab(elf):
    head = struct.pack("<IIQQ", 1, 0, 400 << 20, 1)
    strings = elf.add(".strtab", 3, 0x800, data=head + zeros(400))
    symbol = struct.pack("<IBBHQQ", 1, 0x12, 0, 1, TEXT, 16)
    elf.add(".symtab", 2, data=bytes(24) + symbol, link=strings, info=1, entry=24)
    elf.write(sys.argv[2])


def last(_):
    size, count, table = 128 * 1024, 4000, 64
    packed = struct.pack("<III", 2, size, 1) + b"\x28\xb5\x2f\xfd\0\x58" + \
        struct.pack("<I", size << 3 | 3)[:3] + b"\0"
    end = table + 40 * count
    data = struct.pack("<16sHHIIIIIHHHHHH", b"\x7fELF\1\1\1", 2, 3, 1, TEXT, 0, table,
                       0, 52, 32, 0, 40, count, 1).ljust(table, b"\0")
    data += bytes(40) + struct.pack("<10I", 1, 3, 0, 0, 52, 12, 0, 0, 1, 0)
    data += struct.pack("<10I", 1, 1, 0x800, 0, end, len(packed), 0, 0, 1, 0) * (count - 2)
    with open(sys.argv[2], "wb") as f:
        f.write(data + packed)


globals()[sys.argv[1]](Elf())
