#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
#
# perf script | collapse.pl
#
# Makes folded stacks of perf script's text, as FlameGraph's stackcollapse-perf.pl
# does without options. It is as fast as perl can be.
use strict;
use warnings;

my (%count, @stack);
my $comm = '';
while (my $line = <STDIN>) {
	if ($line =~ /^\s+[0-9a-f]+ (.+?)(?:\+0x[0-9a-f]+)? \(/) {
		push @stack, $1;
	} elsif ($line =~ /^(\S.*?)\s+\d+ /) {
		$comm = $1;
	} elsif (@stack) {
		$count{join ';', $comm, reverse @stack}++;
		@stack = ();
	}
}
print "$_ $count{$_}\n" for sort keys %count;
