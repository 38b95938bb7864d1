# SPDX-License-Identifier: GPL-2.0-only
"""Calls, regular expressions, JSON, and C that calls Python that sorts."""
import collections
import json
import re
import sys


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def key(item):
    return -item[1], item[0]


def main():
    with open(sys.argv[1], encoding="ascii") as file:
        lines = file.readlines()
    count = collections.Counter()
    for line in lines:
        count.update(re.findall("[a-z]+", line))
    words = sorted(count.items(), key=key)
    for _ in range(5):
        words = json.loads(json.dumps(words))
    print(len(words), words[0], fib(20))


main()
