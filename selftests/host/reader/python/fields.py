#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A log of tracepoints with fields, as lines for script2log.

The lines that say what the fields are have been copied from format files of a
6.12 kernel; the bytes are packed here, at the offsets that stand there.
"""
import struct

COMMON = """\
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:unsigned char common_flags;	offset:2;	size:1;	signed:0;
	field:unsigned char common_preempt_count;	offset:3;	size:1;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;

"""

FORMATS = {
    "sched:sched_switch": (317, """\
	field:char prev_comm[16];	offset:8;	size:16;	signed:0;
	field:pid_t prev_pid;	offset:24;	size:4;	signed:1;
	field:int prev_prio;	offset:28;	size:4;	signed:1;
	field:long prev_state;	offset:32;	size:8;	signed:1;
	field:char next_comm[16];	offset:40;	size:16;	signed:0;
	field:pid_t next_pid;	offset:56;	size:4;	signed:1;
	field:int next_prio;	offset:60;	size:4;	signed:1;
"""),
    "sched:sched_process_exec": (311, """\
	field:__data_loc char[] filename;	offset:8;	size:4;	signed:0;
	field:pid_t pid;	offset:12;	size:4;	signed:1;
	field:pid_t old_pid;	offset:16;	size:4;	signed:1;
"""),
    "syscalls:sys_enter_openat": (654, """\
	field:int __syscall_nr;	offset:8;	size:4;	signed:1;
	field:int dfd;	offset:16;	size:8;	signed:0;
	field:const char * filename;	offset:24;	size:8;	signed:0;
	field:int flags;	offset:32;	size:8;	signed:0;
	field:umode_t mode;	offset:40;	size:8;	signed:0;
"""),
    "kmem:kmalloc": (488, """\
	field:unsigned long call_site;	offset:8;	size:8;	signed:0;
	field:const void * ptr;	offset:16;	size:8;	signed:0;
	field:size_t bytes_req;	offset:24;	size:8;	signed:0;
	field:size_t bytes_alloc;	offset:32;	size:8;	signed:0;
	field:unsigned long gfp_flags;	offset:40;	size:8;	signed:0;
	field:int node;	offset:48;	size:4;	signed:1;
"""),
    "raw_syscalls:sys_enter": (381, """\
	field:long id;	offset:8;	size:8;	signed:1;
	field:unsigned long args[6];	offset:16;	size:48;	signed:0;
"""),
    "sock:inet_sock_set_state": (1403, """\
	field:const void * skaddr;	offset:8;	size:8;	signed:0;
	field:int oldstate;	offset:16;	size:4;	signed:1;
	field:int newstate;	offset:20;	size:4;	signed:1;
	field:__u16 sport;	offset:24;	size:2;	signed:0;
	field:__u16 dport;	offset:26;	size:2;	signed:0;
	field:__u16 family;	offset:28;	size:2;	signed:0;
	field:__u16 protocol;	offset:30;	size:2;	signed:0;
	field:__u8 saddr[4];	offset:32;	size:4;	signed:0;
	field:__u8 daddr[4];	offset:36;	size:4;	signed:0;
	field:__u8 saddr_v6[16];	offset:40;	size:16;	signed:0;
	field:__u8 daddr_v6[16];	offset:56;	size:16;	signed:0;
"""),
    # as user_events(7) has them
    "user_events:told": (1500, """\
	field:__rel_loc char[] msg;	offset:8;	size:4;	signed:0;
	field:bool yes;	offset:12;	size:1;	signed:0;
	field:s8 small;	offset:13;	size:1;	signed:1;
	field:struct pair both;	offset:16;	size:12;	signed:0;
	field:__data_loc u32[] list;	offset:28;	size:4;	signed:0;
"""),
    # nothing is told of it
    "test:untold": (1600, None),
}


def word(text):
    return "".join(c if c.isalnum() or c in "_.,:;[]*()=/-" else
                   "\\x%02x" % b for c in text for b in c.encode())


def common(config, pid):
    return struct.pack("<HBBi", config, 1, 2, pid)


def comm(s):
    return struct.pack("16s", s)


def switch(prev, prev_pid, state, following, next_pid):
    return (317, comm(prev) + struct.pack("<iiq", prev_pid, 120, state) +
            comm(following) + struct.pack("<ii", next_pid, 98))


def execs(path):
    return (311, struct.pack("<Iii", len(path) + 1 << 16 | 20, 8, -1) + path +
            b"\0")


def sample(pid, config, data, size=None, cut=None):
    data = common(config, pid) + data
    size = size or len(data)
    print("pmc", hex(0xFFF00F00 + list(FORMATS).index(
        next(n for n, f in FORMATS.items() if f[0] == config))))
    print("sample 1", pid, "0xffffffff81000010", "0x1010")
    print("raw", (data[:cut] if cut is not None else data).hex() or "-", size)


def main():
    print("kernel 0xffffffff81000000 schedule")
    print("host 6.12 box")
    for i, (name, (config, text)) in enumerate(FORMATS.items()):
        print("tracepoint", name, config, hex(0xFFF00F00 + i))
        if text:
            print("fields", config, word(COMMON + text))
    print("proc 7 prog")
    print("proc 8 other")
    print("recording 1", len(FORMATS), 4321)
    sample(7, *switch(b"prog", 7, 1, b"kworker/0:1-ev", 31))
    sample(8, *switch(b"a \"b\"=c\\\x1b\xff", 8, -1, b"sixteen.letters.", 7))
    sample(7, *execs(b"/usr/bin/env"))
    sample(7, *execs("/tmp/caf\u00e9 \u202e".encode()))
    sample(7, *execs(b""))
    sample(8, 654, struct.pack("<i4xQQQQ", 257, 0xffffff9c, 0x7ffd00001000,
                               0o2000000, 0))
    sample(8, 488, struct.pack("<QQQQQi", 0xffffffff81234567,
                               0xffff888100000000, 24, 32, 0xcc0, -1))
    sample(7, 381, struct.pack("<q6Q", 257, 1, 2, 3, 1 << 53, (1 << 53) + 1,
                               (1 << 64) - 1))
    sample(7, 381, struct.pack("<q6Q", -1, 0, 0, 0, 0, 0, 0))
    sample(7, 1403, struct.pack("<Qii4H4B4B", 0xffff888000000001, 1, 2, 443,
                                8080, 2, 6, 10, 0, 0, 1, 127, 0, 0, 1) +
           bytes(range(16)) + bytes(16))
    sample(8, 1500, struct.pack("<IBb2x12sI", 6 << 16 | 20, 1, -5,
                                bytes(range(1, 13)), 8 << 16 | 40) +
           b"hello\0\0\0" + struct.pack("<II", 7, 1 << 31))
    sample(8, 1600, b"\xde\xad")
    # what was too long to be recorded
    sample(7, *execs(b"/long/path"), size=2000, cut=25)
    sample(7, *execs(b"/long/path"), size=2000, cut=14)
    sample(7, *switch(b"prog", 7, 1, b"x", 31), cut=42, size=64)
    sample(7, *switch(b"prog", 7, 1, b"x", 31), cut=0, size=64)
    # what can't be: behind the end, and behind the end by far
    sample(7, 311, struct.pack("<Iii", 100 << 16 | 20, 1, 1) + b"abc")
    sample(7, 311, struct.pack("<Iii", 0xffffffff, 1, 1))
    print("recording 0", len(FORMATS), 0)


main()
