# SPDX-License-Identifier: GPL-2.0-only
"""The table of ./blocks: FILES TEXT CALLS LINES COVERED UNREACHABLE MISSING."""
import bisect
import functools
import os
import re
import sys

files, text, calls, lines, covered, unreachable, missing = sys.argv[1:]
missing = missing == "1"


@functools.cache
def source(path):
    try:
        with open(path, errors="replace") as f:
            return f.read().splitlines()
    except OSError:
        return []


def read_rules():
    rules = {"function": set(), "file": set(), "calls": set(), "check": []}
    for line in open(unreachable):
        if line.strip() and line[0] != "#":
            kind, name = line.split()[:2]
            if kind == "check":
                rules[kind].append(re.compile(name))
            else:
                rules[kind].add(name)
    return rules


def read_text():
    """For each call that a block begins with: its function, and what it calls then."""
    blocks, function, block = {}, None, None
    for line in open(text):
        head = re.match(r"[0-9a-f]+ <(.*)>:", line)
        if head:
            function, block = head[1].split(".")[0], None
            continue
        code = re.match(r" *([0-9a-f]+):\t([^\t]*)\t([a-z0-9.]+)", line)
        reloc = re.match(r"\s+([0-9a-f]+): R_\w+\s+([\w.]+)", line)
        if reloc and reloc[2] == "__wrap___sanitizer_cov_trace_pc":
            block = blocks[int(reloc[1], 16)] = (function, set())
        elif reloc and block:
            block[1].add(reloc[2])
        elif code and block and code[3] in ("b", "ret", "jmp"):
            block = None        # what follows is come to by a jump
        elif code and block and code[3] in ("brk", "ud2"):
            block[1].add("WARN")
    return blocks


def read_lines():
    """For each call its lines, from what was inlined last outwards."""
    result, at = {}, None
    for line in open(lines):
        if line.startswith("0x"):
            at = int(line, 16)
            result[at] = ()
        else:
            result[at] += (line.split(" (disc")[0].strip(),)
    return result


rules, blocks, where = read_rules(), read_text(), read_lines()
reached = {int(line, 16) & 0xFFFFFF for line in open(covered)}
addresses = [int(line, 16) for line in open(calls)]
hits = {at for at in addresses if at + 4 in reached}
# places that some block of was reached
places = {(blocks[at][0], where[at]) for at in hits if at in blocks}


def is_out(at):
    function, called = blocks.get(at, ("?", set()))
    line = where[at][0] if where[at] else "?:?"
    path, _, number = line.rpartition(":")
    if function in rules["function"] or called & rules["calls"] or \
       os.path.basename(path) in rules["file"]:
        return True
    if (function, where[at]) not in places or not number.isdigit():
        return False
    words = source(path)[int(number) - 1:int(number)]
    return any(rule.search(word) for word in words for rule in rules["check"])


starts = sorted((int(a, 16), f) for a, f in map(str.split, open(files)))
firsts = [start for start, _ in starts]
rows, out = {}, 0
for at in addresses:
    if at not in hits and is_out(at):
        out += 1
        continue
    i = bisect.bisect_right(firsts, at) - 1
    row = rows.setdefault(starts[i][1] if i >= 0 else "?", [0, 0])
    row[0] += at in hits
    row[1] += 1
    if missing and at not in hits:
        print(blocks.get(at, ("?",))[0], *(re.sub(".*/(src|include)/", "", w)
                                           for w in where[at]))
if not missing:
    for name, (n, m) in sorted(rows.items()):
        print(f"{name:20} {n:5} of {m:5}  {100 * n // m:3} %")
    got = sum(n for n, _ in rows.values())
    whole = sum(m for _, m in rows.values())
    if whole:
        print(f"{'all blocks':20} {got:5} of {whole:5}  {100 * got // whole:3} %, and {out} that cannot be reached")
