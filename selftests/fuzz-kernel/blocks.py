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
    rules = {"function": set(), "file": set(), "calls": set(), "after": set(),
             "check": [], "line": [], "in": []}
    for line in open(unreachable):
        if line.strip() and line[0] != "#":
            kind, name = line.strip().split(None, 1)
            if kind in ("check", "line"):
                rules[kind].append(re.compile(name))
            elif kind == "in":
                function, name = name.split(None, 1)
                rules[kind].append((function, re.compile(name)))
            else:
                rules[kind].add(name)
    return rules


class Flow:
    """Instructions, and which follow which."""

    STOPS = ("b", "jmp", "ret", "br", "brk", "ud2")     # nothing follows by itself

    def __init__(self):
        self.what, self.jump, self.begins = {}, {}, set()

    def add(self, at, what, operands):
        self.what[at] = what
        to = re.search(r"([0-9a-f]+) <", operands)
        if to and what not in ("bl", "call"):
            self.jump[at] = int(to[1], 16)

    def link(self):
        order = sorted(self.what)
        self.next = {a: b for a, b in zip(order, order[1:])
                     if self.what[a] not in self.STOPS}
        known = set(self.jump.values()) | set(self.next.values()) | self.begins
        # what nothing leads to: branches are patched into the code, and out of it
        for a, b in zip(order, order[1:]):
            if b not in known and self.what[a] in ("b", "jmp"):
                self.next[a] = b
        self.begins |= set(order) - known
        self.ends = {a for a in order if a not in self.next and a not in self.jump}
        self.before = {}
        for way in self.next, self.jump:
            for a, b in way.items():
                self.before.setdefault(b, []).append(a)

    @staticmethod
    def walk(begins, follow, shut):
        seen, todo = set(), list(begins)
        while todo:
            a = todo.pop()
            if a not in seen:
                seen.add(a)
                if a not in shut:
                    todo += follow(a)
        return seen

    def come_to(self, shut):
        """What can be come to without a way through @shut."""
        return self.walk(self.begins, lambda a: [way[a] for way in (self.next, self.jump)
                                                 if a in way], shut)

    def lead_on(self, known, shut):
        """What can lead to an end, or to @known, without a way through @shut."""
        return self.walk(self.ends | known, lambda a: self.before.get(a, []), shut)

    def calls_after(self, calls, at):
        """Which of @calls come next."""
        seen = self.walk([self.next[at]], lambda a: [way[a] for way in (self.next, self.jump)
                                                     if a in way], calls)
        return seen & calls


def read_text():
    """For each call that a block begins with: its function, and what it calls then.
    And the Flow of it all."""
    blocks, function, block, flow = {}, None, None, Flow()
    for line in open(text):
        head = re.match(r"([0-9a-f]+) <(.*)>:", line)
        if head:
            function, block = head[2].split(".")[0], None
            flow.begins.add(int(head[1], 16))
            continue
        code = re.match(r" *([0-9a-f]+):\t[^\t]*\t([a-z0-9.]+)\s*(.*)", line)
        reloc = re.match(r"\s+([0-9a-f]+): R_\w+\s+([\w.]+)", line)
        if code:
            at = int(code[1], 16)
            flow.add(at, code[2], code[3])
        elif reloc:             # the operand is not known yet
            flow.jump.pop(at, None)
        if reloc and reloc[2] == "__wrap___sanitizer_cov_trace_pc":
            block = blocks[int(reloc[1], 16)] = (function, set())
        elif reloc and block:
            block[1].add(reloc[2])
        elif code and block and code[2] in ("b", "ret", "jmp"):
            block = None        # what follows is come to by a jump
        elif code and block and code[2] in ("brk", "ud2"):
            block[1].add("WARN")
    flow.link()
    return blocks, flow


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


rules, where = read_rules(), read_lines()
blocks, flow = read_text()
reached = {int(line, 16) & 0xFFFFFF for line in open(covered)}
addresses = [int(line, 16) for line in open(calls)]
hits = {at for at in addresses if at + 4 in reached}
# places that some block of was reached
places = {(blocks[at][0], where[at]) for at in hits if at in blocks}


@functools.cache
def words_at(line):
    path, _, number = line.rpartition(":")
    return "".join(source(path)[int(number) - 1:int(number)]) if number.isdigit() else ""


def is_out(at):
    function, called = blocks.get(at, ("?", set()))
    lines_of = where[at] or ("?:?",)
    if function in rules["function"] or called & rules["calls"] or \
       os.path.basename(lines_of[0].rpartition(":")[0]) in rules["file"]:
        return True
    words = [words_at(line) for line in lines_of]
    if any(rule.search(word) for word in words for rule in rules["line"]):
        return True
    if any(function == name and rule.search(word) for word in words
           for name, rule in rules["in"]):
        return True
    return (function, where[at]) in places and \
        any(rule.search(words[0]) for rule in rules["check"])


def all_out():
    """Blocks that a rule names, and those that only such ones lead to, or that only
    lead to such ones."""
    named = {at for at in addresses if at not in hits and is_out(at)}
    for at in hits & blocks.keys():
        if blocks[at][1] & rules["after"]:
            named |= flow.calls_after(set(addresses), at) - hits
    ways = flow.come_to(named) & flow.lead_on(hits, named)
    return named | {at for at in addresses if at not in hits and at not in ways}


starts = sorted((int(a, 16), f) for a, f in map(str.split, open(files)))
firsts = [start for start, _ in starts]
rows, out = {}, all_out()
for at in addresses:
    if at in out:
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
        print(f"{'all blocks':20} {got:5} of {whole:5}  {100 * got // whole:3} %, and {len(out)} that cannot be reached")
