/* SPDX-License-Identifier: BSD-2-Clause */
/* How pmcstat(8) is to read a log: the options of FreeBSD's pmcstat. */
#ifndef READER_READING_H
#define READER_READING_H

#include <stddef.h>
#include <stdint.h>

#include "base/cpulist.h"

/**
 * struct reading - options for reading a log
 * @path:        -R: a file, "-" or "host:port"; NULL: the log is a pipe
 * @top:         -T
 * @graph:       -G: file for the call graph as text, "-" for standard output
 * @calltree:    -F: file for kcachegrind
 * @gprof:       -g: profiles of gprof
 * @gprof_wide:  -e: with counters of 64 bits
 * @gprof_dir:   -D: directory of the profiles; NULL: the working directory
 * @gprof_map:   -M: file that maps images to their profiles
 * @annotate:    -m: file for one line per sample
 * @annotate_graph: -a: file for the source lines of each chain
 * @depth:       -z: callers shown; 0: not given
 * @plugin:      -f: "name=value", in the order given
 * @root:        -r: prefix of the paths in the log; NULL: not given
 * @kernel_dir:  -k; NULL: not given
 * @lwp:         -i: only this thread, when @one_lwp
 * @no_symbols:  -A: addresses only
 * @offsets:     -I: the offset inside the function too
 * @cpus:        -c: only samples of these
 * @live:        the process of our own recording, 0: none: -c and -i chose what is recorded
 * @text_path:   -o: NULL: standard output, or the terminal
 * @interval:    -w: seconds between screens
 * @quiet, @verbose: -q; how often -v
 */
struct reading {
	const char	*path;
	int		top;
	const char	*graph;
	const char	*calltree;
	int		gprof;
	int		gprof_wide;
	const char	*gprof_dir;
	const char	*gprof_map;
	const char	*annotate;
	const char	*annotate_graph;
	unsigned int	depth;
	const char	**plugin;
	size_t		nplugin;
	const char	*root;
	const char	*kernel_dir;
	int		one_lwp;
	uint32_t	lwp;
	int		no_symbols;
	int		offsets;
	struct cpulist	cpus;
	int		live;
	const char	*text_path;
	double		interval;
	int		quiet;
	int		verbose;
};

#endif /* READER_READING_H */
