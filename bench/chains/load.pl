# SPDX-License-Identifier: GPL-2.0-only
# Calls, regular expressions, a hash, and a sort with a function of its own.
my (%count, $sum);

sub depth {
	my ($n) = @_;
	return $n ? 1 + depth($n - 1) : 0;
}

open(my $in, '<', $ARGV[0]) or die "$ARGV[0]: $!";
while (my $line = <$in>) {
	$count{lc $1}++ while $line =~ /([a-z]+)/gi;
}
close($in);
$sum += depth(20) for 1 .. 4000;
my @sorted = sort { $count{$b} <=> $count{$a} || $a cmp $b } keys %count;
print scalar(@sorted), " $sorted[0] $sum\n";
