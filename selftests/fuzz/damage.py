#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""damage.py DIR LOG...: seeds of fuzz_command, of logs with something wrong

Bytes are missing or overwritten, the log begins anywhere, a field has another
value.  The first byte of a seed is the command, and how it gets the log.
"""
import os
import random
import re
import struct
import subprocess
import sys

PIPE, LATER, VERIFY = 64, 128, 4
MAGIC = 0xEE
out = sys.argv[1]
with open(os.path.join(os.path.dirname(__file__), "fuzz_command.c")) as f:
    # the lines of commands[]
    COMMANDS = len(re.findall(r"^\t\{ \w+, \{ \"", f.read(), re.M))
random.seed(1)
count = 0


def put(how, log):
    global count
    with open("%s/damaged%d" % (out, count), "wb") as f:
        f.write(bytes([how]) + log)
    count += 1


def put_any(log):
    put(count % COMMANDS | random.choice((0, PIPE, PIPE | LATER)), log)


def records(log):
    """Where records begin, of a log of this machine's byte order"""
    at = 0
    while at + 4 <= len(log):
        word, = struct.unpack_from("<I", log, at)
        if word >> 24 != MAGIC or not word & 0xFFFF:
            return
        yield at, word & 0xFFFF
        at += word & 0xFFFF


def overwritten(log, n):
    log = bytearray(log)
    for _ in range(n):
        at = random.randrange(len(log))
        log[at:at + 4] = random.choice((b"\0\0\0\0", b"\xff" * 4, b"",
                                        random.randbytes(4)))
    return bytes(log)


def without(log, at, n):
    return log[:at] + log[at + n:]


def damage(log):
    put_any(log[4 * random.randrange(1, 40):])
    put_any(log[random.randrange(len(log)):])
    put_any(log[:random.randrange(len(log))])
    put_any(without(log, random.randrange(len(log)), random.randrange(1, 99)))
    put_any(overwritten(log, 1))
    put_any(overwritten(log, 20))
    put_any(b"\0" * 5 + log)
    put_any(log + log[:len(log) // 2])
    put_any(log + b"junk" * 9 + log)
    put(random.choice((0, 1)) | PIPE, log[random.randrange(8, 400):])


def wrong_fields(log, n):
    """A word of a record is another, or the record is twice there, or moved"""
    all_records = list(records(log))
    for _ in range(n if all_records else 0):
        at, size = random.choice(all_records)
        if size > 16 and random.random() < 0.8:
            word = at + 4 * random.randrange(1, size // 4)
            log2 = bytearray(log)
            struct.pack_into("<I", log2, word, random.choice(
                (0, 1, 2, 0xFFFFFFFF, 0x7FFFFFFF, 1 << random.randrange(32))))
            put(VERIFY, bytes(log2))
        else:
            to = random.choice(all_records)[0]
            put(VERIFY, log[:to] + log[at:at + size] + log[to:])


def multipart(log):
    """Samples of more parts than their chain"""
    for at, size in records(log):
        if log[at + 2] != 16 or size < 64:
            continue
        log2 = bytearray(log)
        flags, = struct.unpack_from("<I", log, at + 28)
        struct.pack_into("<I", log2, at + 28, flags | MULTI)
        struct.pack_into("<8B", log2, at + 32, *random.choice(
            ((1, 2, 0, 0, 0, 0, 0, 0), (2, 3, 1, 1, 0, 0, 0, 0),
             (3, 2, 0, 0, 0, 0, 0, 0), (9, 200, 0, 0, 0, 0, 0, 0))))
        put(1, bytes(log2))


def packed(log):
    data = subprocess.run(["zstd", "-qc"], input=log, check=True,
                          stdout=subprocess.PIPE).stdout
    put(1 | PIPE, data)
    put(24 | PIPE | LATER, data)
    put(1, data[:len(data) // 2])
    put(1, overwritten(data, 3))
    put(1, data + data)


MULTI = 0x2
for number, path in enumerate(sys.argv[2:]):
    with open(path, "rb") as f:
        text = f.read()
    damage(text)
    wrong_fields(text, 40)
    packed(text)
    multipart(text)
