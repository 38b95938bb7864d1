// SPDX-License-Identifier: BSD-2-Clause
/* Names made readable and harmless. */
#include <string.h>
#include <time.h>

#include "analysis/shown.h"
#include "base/numbers.h"
#include "tap.h"

static void is(const char *name, bool demangle, const char *want)
{
	char buf[SHOWN_MAX];

	shown_name(buf, name, demangle);
	if (!ok(!strcmp(buf, want), "%.60s", want))
		printf("# got %s\n", buf);
}

/*
 * f(a<int, int>, a<that, that>, ...): each argument is twice as long as the one
 * before, so a name of 300 bytes stands for gigabytes.
 */
static void make_bomb(char *bomb)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	int i;

	strcpy(bomb, "_Z1f1aIiiE");
	for (i = 0; i < 33; i++)
		sprintf(bomb + strlen(bomb), "S_IS%c_S%c_E", digits[i],
			digits[i]);
}

static void test_bomb(void)
{
	char bomb[1024], buf[SHOWN_MAX];
	struct timespec a, b;
	double took;

	make_bomb(bomb);
	clock_gettime(CLOCK_MONOTONIC, &a);
	shown_name(buf, bomb, true);
	clock_gettime(CLOCK_MONOTONIC, &b);
	took = (double)(b.tv_sec - a.tv_sec) +
	       (double)(b.tv_nsec - a.tv_nsec) / 1e9;
	ok(took < 2.0 && !strncmp(buf, "f(a<int, int>, a<a<int, int>", 28),
	   "a name that explodes takes no time");
	ok(!strncmp(buf + strlen(buf) - 12, "...#", 4), "and is cut, too");
}

static void test_long(void)
{
	static char name[100000];
	char buf[SHOWN_MAX], other[SHOWN_MAX];

	memset(name, 'x', sizeof(name) - 1);
	shown_name(buf, name, true);
	ok(strlen(buf) < SHOWN_MAX && !strncmp(buf + strlen(buf) - 12, "...#", 4),
	   "a long name is cut, and shows it");
	shown_name(other, buf, false);
	ok(!strcmp(other, buf), "and is not cut again when it is shown again");
	name[sizeof(name) - 2] = 'y';
	shown_name(other, name, true);
	ok(strlen(other) == strlen(buf) && strcmp(other, buf),
	   "two of them stay two");
	memset(name, '\x80', sizeof(name) - 1);
	shown_name(buf, name, true);
	ok(strlen(buf) < SHOWN_MAX, "so is one that grows when escaped");
	memcpy(name, "_Z", 2);
	shown_name(buf, name, true);
	ok(!strncmp(buf, "_Z\\x80", 6), "a long mangled one too");
}

int main(void)
{
	char buf[GROUPED_MAX];

	is("plain_function", true, "plain_function");
	is("_ZN5shape6Circle4areaEdi", true,
	   "shape::Circle::area(double, int)");
	is("_ZN5shape6Circle4areaEdi", false, "_ZN5shape6Circle4areaEdi");
	is("_ZN4core3fmt9Formatter9write_str17h0123456789abcdefE", true,
	   "core::fmt::Formatter::write_str");
	is("_RNvCs1234_7mycrate3foo", true, "mycrate::foo");
	is("_D3std5stdio7writelnFZv", true, "std.stdio.writeln()");
	is("_Znotreally", true, "_Znotreally");
	is("_Z", true, "_Z");
	is("a\033[31mred\x7f\n", true, "a\\x1b[31mred\\x7f\\x0a");
	is("bad\xff\xc3utf8", true, "bad\\xff\\xc3utf8");
	is("gr\xc3\xbc\xc3\x9f \xe2\x86\x92", true,
	   "gr\xc3\xbc\xc3\x9f \xe2\x86\x92");
	is("rtl\xe2\x80\xae" "cod", true, "rtl\\xe2\\x80\\xae" "cod");
	is("c1\xc2\x9b" "31m", true, "c1\\xc2\\x9b" "31m");
	test_long();
	test_bomb();
	ok(!strcmp(grouped(buf, 0), "0") && !strcmp(grouped(buf, 999), "999") &&
	   !strcmp(grouped(buf, 1234567), "1,234,567") &&
	   !strcmp(grouped(buf, UINT64_MAX), "18,446,744,073,709,551,615"),
	   "thousands");
	return done();
}
