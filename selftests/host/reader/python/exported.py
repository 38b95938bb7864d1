#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""exported.py [-w] FORMAT FILE: what an export says, in one form for all formats.

Prints each stack of each event, commands first and the outermost function
next, with its samples: "EVENT COMMAND;f;g COUNT".  What has no name, or one
made up from its object, is "?".  Fails where the format's rules are broken.
-w: with its events instead of its samples.
"""
import collections
import csv
import gzip
import json
import re
import subprocess
import sys

stacks = collections.Counter()
weigh = sys.argv[1] == "-w"
if weigh:
    del sys.argv[1]


def name(s):
    """Kernel marks and names of nameless things are the formats' own."""
    s = s.removesuffix("_[k]")
    return "?" if re.fullmatch(r"\[.*\]", s) else s


def add(event, comm, outermost_first, n=1, period=None):
    if weigh and period is not None:
        n = int(period)
    names = [name(f) for f in outermost_first]
    stacks[event, ";".join([comm.replace(" ", "_")] + names)] += n


def folded(path):
    for line in open(path, encoding="utf-8"):
        m = re.fullmatch(r"([^ ;]+)((?:;[^;]+)*) (\d+)\n", line)
        add("-", m[1], m[2].split(";")[1:], int(m[3]))


def perf_script(path):
    """The expressions that stackcollapse-perf.pl and the Firefox Profiler
    look at such text with."""
    head = re.compile(r"^(\S.*?)\s+(\d+)/(\d+)\s+\[(\d{3,})\]\s+"
                      r"(\d+)\.(\d{6}):\s+(\d+)\s+(.+?): (.*)$")
    frame = re.compile(r"^\s*(\w+)\s*(.+) \((.*)\)$")
    now, frames = None, []
    for line in open(path, encoding="utf-8"):
        line = line.rstrip("\n")
        if not line:
            comm, event = now[1], now[8]
            add(event, comm, reversed(frames), period=now[7])
            now, frames = None, []
        elif now:
            m = frame.match(line)
            assert line[0] == "\t" and m, line
            frames.append(re.sub(r"\+0x[0-9a-f]+$", "", m[2]))
        else:
            now = head.match(line)
            assert now, line
    assert not now


def csv_file(path):
    with open(path, encoding="utf-8", newline="") as f:
        for row in csv.DictReader(f, strict=True):
            assert None not in row and None not in row.values()
            float(row["time"])
            for key in ("cpu", "pid", "tid", "period"):
                int(row[key])
            assert row["mode"] in ("user", "kernel")
            stack = row["stack"].split(";")
            assert stack[-1] == row["symbol"].replace(";", ":")
            add(row["event"], row["comm"].removeprefix("'"), stack,
                period=row["period"])


def jsonl(path):
    for line in open(path, encoding="utf-8"):
        s = json.loads(line)
        for key in ("cpu", "pid", "tid"):
            assert isinstance(s[key], int)
        assert isinstance(s["time"], float) and isinstance(s["object"], str)
        assert s["mode"] in ("user", "kernel")
        add(s["event"], s["comm"], reversed(s["stack"]),
            period=s.get("period"))


def speedscope(path):
    d = json.load(open(path, encoding="utf-8"))
    assert d["$schema"].endswith("/file-format-schema.json")
    frames = [f["name"] for f in d["shared"]["frames"]]
    assert 0 <= d["activeProfileIndex"] < len(d["profiles"])
    for p in d["profiles"]:
        assert p["type"] == "sampled" and p["unit"] == "none"
        assert len(p["samples"]) == len(p["weights"])
        assert p["endValue"] - p["startValue"] == sum(p["weights"])
        for s, w in zip(p["samples"], p["weights"]):
            names = [frames[i] for i in s]
            add(p["name"].split(",")[0], names[0], names[1:], w)


def pprof(path):
    """As pprof itself reads it."""
    tool = "/usr/lib/go-1.19/pkg/tool/linux_amd64/pprof"
    text = subprocess.run([tool, "-raw", path], check=True,
                          stdout=subprocess.PIPE).stdout.decode()
    places = text.split("\nLocations\n")[1].split("\nMappings\n")[0]
    at, where = {}, None
    for line in places.splitlines():
        m = re.match(r" *(?:(\d+): 0x\w+ M=\d+ )?(.*) \S*:\d+ s=\d+$", line)
        if m[1]:
            where = at.setdefault(int(m[1]), [])
        where.append(m[2].strip())
    lines = text.split("\nSamples:\n")[1].split("\nLocations\n")[0]
    lines = lines.splitlines()
    types = [t.split("/")[0] for t in lines[0].split()]
    events = [t.removesuffix("[dflt]") for t in types]
    for i in range(1, len(lines)):
        m = re.match(r"((?: +\d+)+): ([\d ]+)$", lines[i])
        if not m:
            continue
        names = [f for l in m[2].split() for f in at[int(l)]]
        comm = re.fullmatch(r" +command:\[(.*?)\].*", lines[i + 1])[1]
        for type_, v in zip(events, m[1].split()):
            if type_.endswith(":samples") and int(v):
                add(type_.removesuffix(":samples"), comm, reversed(names),
                    int(v))


class Bytes:
    """What is read one thing after the other."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def more(self):
        return self.at < len(self.data)

    def take(self, n):
        self.at += n
        assert self.at <= len(self.data)
        return self.data[self.at - n:self.at]

    def varint(self):
        v = shift = 0
        while True:
            b = self.take(1)[0]
            v |= (b & 127) << shift
            shift += 7
            if b < 128:
                return v


def fields(data):
    """Of a message of protocol buffers: number, and number or bytes."""
    message = Bytes(data)
    while message.more():
        key = message.varint()
        assert key & 7 in (0, 2)
        v = message.varint()
        yield key >> 3, message.take(v) if key & 7 == 2 else v


def packed(data):
    """Numbers in a row are the fields of a message without keys."""
    numbers = Bytes(data)
    while numbers.more():
        yield numbers.varint()


def pprof_sums(path):
    """The sum of each value, for want of pprof."""
    types, sums, strings = [], [], []
    for number, v in fields(gzip.open(path).read()):
        if number == 1:
            types.append(dict(fields(v))[1])
        elif number == 2:
            values = list(packed(dict(fields(v))[2]))
            sums = [a + b for a, b in zip(sums or [0] * len(values), values)]
        elif number == 6:
            strings.append(v.decode())
    for type_, n in zip(types, sums):
        print(strings[type_], n)


class Native(Bytes):
    """ClickHouse's Native format, of the types that we write."""

    def string(self):
        return self.take(self.varint()).decode()

    def number(self, size=8):
        return int.from_bytes(self.take(size), "little")

    def dictionary(self, n):
        if not n:
            return []
        kind = self.number()
        assert kind & ~3 == 0x600
        keys = [self.string() for _ in range(self.number())]
        assert len(set(keys)) == len(keys)
        assert self.number() == n
        return [keys[self.number(1 << (kind & 3))] for _ in range(n)]

    def column(self, type_, n):
        sizes = {"UInt32": 4, "UInt64": 8, "DateTime('UTC')": 4}
        if type_ in sizes:
            return [self.number(sizes[type_]) for _ in range(n)]
        if type_ == "String":
            return [self.string() for _ in range(n)]
        assert self.number() == 1
        if type_ == "LowCardinality(String)":
            return self.dictionary(n)
        assert type_ == "Array(LowCardinality(String))"
        ends = [self.number() for _ in range(n)]
        every = self.dictionary(ends[-1])
        return [every[a:b] for a, b in zip([0] + ends, ends)]

    def blocks(self):
        while self.more():
            n, rows = self.varint(), self.varint()
            yield {name: self.column(self.string(), rows)
                   for name in (self.string() for _ in range(n))}


def clickhouse(path):
    for block in Native(open(path, "rb").read()).blocks():
        for event, comm, stack, symbol, s, ns, period in zip(
                block["event"], block["comm"], block["stack"],
                block["symbol"], block["time"], block["time_ns"],
                block["period"]):
            assert stack[0] == symbol and s == ns // 10**9
            add(event, comm, reversed(stack), period=period)


def clickhouse_fields(path):
    for block in Native(open(path, "rb").read()).blocks():
        print(*block["fields"], sep="\n")


def clickhouse_columns(path):
    """How many columns each block has."""
    for block in Native(open(path, "rb").read()).blocks():
        print(len(block))


def stacks_only(path):
    """Of a query: event, command and stack with tabs between them."""
    for line in open(path, encoding="utf-8"):
        event, comm, stack, n = line.rstrip("\n").split("\t")
        add(event, comm, stack.split(";"), int(n))


def columns(table):
    """Every column is as long as the table says."""
    for key, column in table.items():
        if isinstance(column, list):
            assert len(column) == table["length"], key
    return table


def within(numbers, table, least=0):
    assert all(least <= i < table["length"] for i in numbers)


def firefox(path):
    """What the Firefox Profiler's types and docs ask of version 66."""
    d = json.load(open(path, encoding="utf-8"))
    meta, shared = d["meta"], d["shared"]
    assert meta["preprocessedProfileVersion"] == 66
    assert meta["interval"] > 0 and meta["startTime"] > 0
    colours = [c["color"] for c in meta["categories"]]
    assert "grey" in colours
    assert all(c["subcategories"][0] == "Other" for c in meta["categories"])
    strings = shared["stringArray"]
    assert len(set(strings)) == len(strings)
    stacks_, frames, funcs, resources = (columns(shared[t]) for t in (
        "stackTable", "frameTable", "funcTable", "resourceTable"))
    within(frames["func"], funcs)
    within(stacks_["frame"], frames)
    within(funcs["resource"], resources, -1)
    for table in funcs, resources:
        within(table["name"], {"length": len(strings)})
    within(resources["lib"], {"length": len(d["libs"])})
    within(frames["category"], {"length": len(colours)})
    for lib in d["libs"]:
        assert re.fullmatch("[0-9A-F]{33}", lib["breakpadId"])
    for i, offset in enumerate(stacks_["prefixOffset"]):
        assert 0 <= offset <= i
    for address in frames["address"]:
        assert -1 <= address < 1 << 32
    paths = []
    for frame, offset in zip(stacks_["frame"], stacks_["prefixOffset"]):
        above = paths[-offset] if offset else []
        paths.append(above + [strings[funcs["name"][frames["func"][frame]]]])
    for t in d["threads"]:
        samples = columns(t["samples"])
        columns(t["markers"])
        assert samples["length"] and samples["weightType"] == "samples"
        assert samples["time"] == sorted(samples["time"])
        assert isinstance(t["pid"], str)
        assert t["isMainThread"] == (t["pid"] == str(t["tid"]))
        within(samples["stack"], stacks_)
        comm, event = t["processName"], "-"
        if t["name"] != comm:
            event = t["name"].removeprefix(comm + " (").removesuffix(")")
        weights = samples["weight"] or [None] * samples["length"]
        for s, weight in zip(samples["stack"], weights):
            add(event, comm, paths[s], period=weight)
    within(meta["initialSelectedThreads"], {"length": len(d["threads"])})


formats = {
    "folded": folded, "perf-script": perf_script, "csv": csv_file,
    "jsonl": jsonl, "speedscope": speedscope, "pprof": pprof,
    "clickhouse-fields": clickhouse_fields,
    "clickhouse-columns": clickhouse_columns, "pprof-sums": pprof_sums,
    "firefox": firefox, "clickhouse": clickhouse, "stacks": stacks_only,
}
formats[sys.argv[1]](sys.argv[2])
for (event, stack), n in sorted(stacks.items()):
    print(event, stack, n)
