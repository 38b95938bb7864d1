# SPDX-License-Identifier: GPL-2.0-only
"""report.py DIR PMCLOG ROOT: what bench-chains has brought to DIR, as tables and BENCH
lines. ROOT has the files of the programs.

Frames are (object, start of the function), by the table of .eh_frame_hdr: stripped
programs have that, too, and it is the same for all recordings.
"""
import bisect
import collections
import functools
import json
import math
import os
import re
import struct
import subprocess
import sys

FRAME = re.compile(r"\s+([0-9a-f]+) (.*) \(([^()]*|.*\(deleted\))\)$")
PT_LOAD, PT_GNU_EH_FRAME = 1, 0x6474e550
THREADS = {"clone", "__clone", "clone3", "__clone3", "__GI___clone", "__GI___clone3", "start_thread"}
RECORDINGS = "cold", "tables", "fp", "perf", "dwarf"
CAUSES = "depth", "user", "kernel", "table"
# Seconds of a program; what is cut for want of a table by then is its beginning.
BEGINNING = 2
# The programs' root directory, here and in the guest; empty for the machine's own.
# perf's paths begin there.
ROOT = sys.argv[3]


def lines_of(*command):
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True, errors="replace") as p:
        yield from p.stdout
    if p.returncode:
        sys.exit(f"report.py: {' '.join(command)}: {p.returncode}")


@functools.cache
def functions(path):
    """Where functions of an object begin, which of them begin a thread, what is loaded where."""
    starts, first, loads = [], set(), []
    try:
        with open(ROOT + path, "rb") as file:
            elf = file.read()
    except OSError:
        return starts, first, loads
    if elf[:4] != b"\x7fELF":
        return starts, first, loads
    entry, phoff = struct.unpack_from("<QQ", elf, 24)
    first.add(entry)
    phnum, = struct.unpack_from("<H", elf, 56)
    for i in range(phnum):
        kind, _, offset, address, _, size = struct.unpack_from("<IIQQQQ", elf, phoff + 56 * i)
        if kind == PT_LOAD:
            loads.append((offset, offset + size, address - offset))
        elif kind == PT_GNU_EH_FRAME and elf[offset + 1:offset + 4] == b"\x1b\x03\x3b":
            # sorted, and relative to itself
            n, = struct.unpack_from("<I", elf, offset + 8)
            table = struct.unpack_from(f"<{2 * n}i", elf, offset + 12)
            starts = [address + start for start in table[::2]]
            first.update(start for start, fde in zip(starts, table[1::2])
                         if without_caller(elf, offset + fde))
    return starts, first, loads


def without_caller(elf, fde):
    """The call frame information says that the return address (16) is undefined (7).

    _start says so, and clone3() where a thread begins. The table and what it is made of
    are loaded by one segment. Lengths and addresses before the rules have 17 bytes.
    """
    size, = struct.unpack_from("<I", elf, fde)
    return b"\x07\x10" in elf[fde + 17:fde + 4 + size]


def loaded_at(path, offset):
    """perf says where in the file a frame is."""
    for first, end, bias in functions(path)[2]:
        if first <= offset < end:
            return offset + bias
    return offset


@functools.cache
def function(path, address):
    starts = functions(path)[0]
    i = bisect.bisect_right(starts, address)
    return starts[i - 1] if i else address


class Recording:
    """What samples of the program have of the user's side."""

    def __init__(self, script, command, offsets):
        self.offsets = offsets
        self.samples = self.frames = self.started = 0
        self.self = collections.Counter()
        self.inclusive = collections.Counter()
        self.names = {}
        chain, ours = [], False
        for line in script:
            if line[0] == "\n":
                self.add(chain)
                chain = []
            elif line[0] != "\t":
                ours = line.split(maxsplit=1)[0] == command
            elif ours:
                self.frame(chain, line)
        self.add(chain)

    def frame(self, chain, line):
        address, name, path = FRAME.match(line).groups()
        if path in ("[kernel.kallsyms]", "[hwpmc]"):
            return
        address = int(address, 16)
        path = path.removeprefix(ROOT)
        if self.offsets:
            address = loaded_at(path, address)
        key = os.path.basename(path), function(path, address)
        name = re.sub(r"(\(.*)?(\+0x[0-9a-f]+)?$", "", name)
        if name != "[unknown]":
            self.names.setdefault(key, name)
        chain.append((key, name, path))

    def add(self, chain):
        if not chain:
            return
        self.samples += 1
        self.frames += len(chain)
        self.self[chain[0][0]] += 1
        key, name, path = chain[-1]
        if name in THREADS or key[1] in functions(path)[1]:
            self.started += 1
            for key in {key for key, _, _ in chain}:
                self.inclusive[key] += 1


def difference(a, b, what):
    """The largest one of a function above 1 %, and twice what chance makes of it.

    Inclusive: in chains to the start, if most are, or what is deep would be missing.
    """
    worst = 0, 0, "nothing"
    x, y = getattr(a, what), getattr(b, what)
    n, m = (a.samples, b.samples) if what == "self" else (a.started, b.started)
    if n < 0.9 * a.samples or m < 0.9 * b.samples:
        return 0, 0, "-"
    for key in x.keys() | y.keys():
        p, q = x[key] / n, y[key] / m
        if max(p, q) <= 0.01 or key[0] == "[unknown]":
            continue
        mean = (x[key] + y[key]) / (n + m)
        noise = 2 * math.sqrt(mean * (1 - mean) * (1 / n + 1 / m))
        name = a.names.get(key) or b.names.get(key) or hex(key[1])
        worst = max(worst, (100 * abs(p - q), 100 * noise, f"{key[0]}:{name}"))
    return worst


def ends(pmclog, log, command):
    """How chains end, and of the beginning's cut ones the number and the last's time."""
    count = collections.Counter()
    first, last = None, 0
    for line in lines_of(pmclog, "export", "--to", "jsonl", log):
        sample = json.loads(line)
        words = sample.get("ends", [])
        if sample["comm"] != command or not words:
            continue
        first = sample["time"] if first is None else first
        count["all"] += 1
        count.update(words)
        if "cut_table" in words and sample["time"] - first < BEGINNING:
            count["early"] += 1
            last = sample["time"] - first
    return count, 1000 * last


class Program:
    """All recordings of one."""

    def __init__(self, directory, pmclog, name, path):
        command = os.path.basename(path)[:15]
        self.name, self.rec, self.bytes = name, {}, {}
        for rec in RECORDINGS:
            log = f"{directory}/{rec}-{name}"
            if rec in ("perf", "dwarf"):
                script = lines_of("perf", "script", "--no-inline", "-F", "comm,tid,ip,sym,dso",
                                  *(("--symfs", ROOT) if ROOT else ()), "-i", log)
            else:
                script = lines_of(pmclog, "export", "--to", "perf-script", log)
            r = self.rec[rec] = Recording(script, command, rec in ("perf", "dwarf"))
            if not r.samples:
                sys.exit(f"NOT MEASURED: {log}")
            self.bytes[rec] = os.path.getsize(log) / r.samples
        self.cold, self.ms = ends(pmclog, f"{directory}/cold-{name}", command)
        self.warm, self.warm_ms = ends(pmclog, f"{directory}/tables-{name}", command)
        self.sys = [ends(pmclog, f"{directory}/{rec}-{name}", command) for rec in ("syscold", "system")]
        tables, dwarf = self.rec["tables"], self.rec["dwarf"]
        self.difference = [difference(tables, dwarf, what) for what in ("self", "inclusive")]
        # Where a sample was taken does not depend on how its chain is found.
        self.perfs = difference(self.rec["perf"], dwarf, "self")[0]

    def start(self, rec):
        r = self.rec[rec]
        return 100 * r.started / r.samples


def whole(count):
    return 100 * count["whole"] / count["all"]


def print_chains(programs):
    print("            first recording          |            second recording               |"
          "     frames of a chain      |  % to the start")
    print("program     whole%   cut  until, ms  | chains whole%  depth  user kernel  table  |"
          " tables    fp   perf  dwarf |    fp   perf  dwarf")
    for p in programs:
        print(f"{p.name:10} {whole(p.cold):7.2f} {p.cold['early']:5} {p.ms:10.0f}  |"
              f" {p.warm['all']:6} {whole(p.warm):6.2f} ",
              *(f"{p.warm['cut_' + c]:6}" for c in CAUSES), " |",
              *(f"{p.rec[r].frames / p.rec[r].samples:6.1f}" for r in RECORDINGS[1:]), "|",
              *(f"{p.start(r):6.2f}" for r in RECORDINGS[2:]))


def print_system(programs):
    print("of the system |  no tables on disk       |  tables on disk")
    print("program       | whole%   cut  until, ms  | whole%   cut  until, ms")
    for p in programs:
        print(f"{p.name:10}", *(f"   | {whole(count):6.2f} {count['early']:5} {ms:10.0f}" for count, ms in p.sys))


def print_rest(programs):
    print("             bytes of the file for a sample   |"
          " largest difference of a share to dwarf, points (noise)")
    print("program    tables   fp   perf  dwarf   ratio  |  perf's self    self  of                            "
          "         inclusive  of")
    for p in programs:
        print(f"{p.name:10}", *(f"{p.bytes[r]:6.0f}" for r in RECORDINGS[1:]),
              f" {p.bytes['tables'] / p.bytes['dwarf']:6.3f} |",
              f"       {p.perfs:5.2f}",
              *(f"{d:6.2f} ({noise:.2f}) {of:36}" if of != "-" else "     -" for d, noise, of in p.difference))


def bench(name, ours, peer, unit, goal):
    ratio = f"{ours / peer:.3f}" if peer else "-"
    print(f"BENCH name=chains-{name} ours={ours:.5g} peer={peer:.5g} ratio={ratio} unit={unit} goal={goal}")


def print_bench(programs):
    for p in programs:
        bench(f"whole.{p.name}", whole(p.warm), p.start("dwarf"), "%", "ours>=98")
        bench(f"first.{p.name}", p.ms, 0, "ms", "ours<=50")
        bench(f"first-system.{p.name}", p.sys[1][1], p.sys[0][1], "ms", "ours<=50")
        bench(f"bytes.{p.name}", p.bytes["tables"], p.bytes["dwarf"], "bytes", "ratio<=0.1")
        for what, (d, noise, of) in zip(("self", "inclusive"), p.difference):
            if of == "-":
                continue
            bench(f"{what}.{p.name}", d, noise, "points", "ours<=1")
    for name, counts in ("whole", [p.warm for p in programs]), ("whole-first", [p.cold for p in programs]):
        total = sum(counts, collections.Counter())
        dwarf = [p.rec["dwarf"] for p in programs]
        bench(f"{name}.all", whole(total), 100 * sum(r.started for r in dwarf) / sum(r.samples for r in dwarf),
              "%", "ours>=99")


def main():
    directory, pmclog = sys.argv[1:3]
    with open(f"{directory}/list", encoding="ascii") as file:
        programs = [Program(directory, pmclog, *line.split()[:2]) for line in file]
    print_chains(programs)
    print()
    print_system(programs)
    print()
    print_rest(programs)
    print()
    print_bench(programs)


main()
