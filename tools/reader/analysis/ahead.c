// SPDX-License-Identifier: BSD-2-Clause
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/ahead.h"
#include "analysis/shown.h"
#include "base/say.h"
#include "log/input.h"
#include "log/logdir.h"
#include "log/record.h"

/* A mapped file: MAP_IN has its path, the MAPPING behind it which file it is. */
struct mapped_file {
	uint64_t start;
	uint32_t pid, path;
};

static void note_file(struct profile *p, const struct mapped_file *m,
		      const struct pmclog_rec *r)
{
	struct object o = {
		.path = m->path, .dev_major = REC32(r, ext_mapping, dev_major),
		.dev_minor = REC32(r, ext_mapping, dev_minor),
		.ino = REC64(r, ext_mapping, ino),
	};

	if (!m->path || m->pid != REC32(r, ext_mapping, pid) ||
	    m->start != REC64(r, ext_mapping, start))
		return;
	o.kind = objects_kind(strtab_str(&p->str, o.path));
	if (o.kind == OBJ_FILE && o.ino)
		objects_id(&p->objs, &p->str, &o);
}

/* What tells when a log ends */
struct clock {
	struct wallclock wall;
	uint64_t last;
};

static void note_end(struct profile *p, const struct clock *c)
{
	uint64_t last = c->last > c->wall.latest ? c->last : c->wall.latest;
	int64_t end = wallclock_at(&c->wall, last) / 1000000000;

	if (end > p->log.wall_end)
		p->log.wall_end = end;
}

static void note_time(struct profile *p, struct clock *c, const struct pmclog_rec *r)
{
	if (r->type == PMCLOG_T_INITIALIZE) {
		note_end(p, c);
		wallclock_free(&c->wall);
		*c = (struct clock){ .last = r->tsc };
		wallclock_begin(&c->wall, REC64(r, initialize, tsc_freq), r->tsc,
				(int64_t)REC64(r, initialize, ts_sec),
				(int64_t)REC64(r, initialize, ts_nsec));
	} else if (r->type == PMCLOG_T_USERDATA &&
		   pmclog_iter_ext_subtype(r) == PMCLOG_EXT_CLOCK) {
		wallclock_add(&c->wall, r->tsc, REC64(r, ext_clock, raw),
			      REC64(r, ext_clock, real));
	}
	if (r->tsc > c->last)
		c->last = r->tsc;
}

static void note_record(struct profile *p, struct mapped_file *m,
			const struct pmclog_rec *r)
{
	switch (r->type) {
	case PMCLOG_T_INITIALIZE:
		buildids_keep(&p->ids, &p->str, &p->objs);
		break;
	case PMCLOG_T_MAP_IN:
		m->pid = REC32(r, map_in, pid);
		m->start = REC64(r, map_in, start);
		m->path = strtab_id(&p->str, REC_STR(r, map_in, path));
		break;
	case PMCLOG_T_USERDATA:
		if (pmclog_iter_ext_subtype(r) == PMCLOG_EXT_BUILDID)
			profile_buildid(p, r);
		else if (pmclog_iter_ext_subtype(r) == PMCLOG_EXT_MAPPING)
			note_file(p, m, r);
		break;
	}
}

/* What is damaged is not told here: the caller reads the log again. */
static void read_ids(struct profile *p, const char *path, int fd)
{
	struct mapped_file last = { .path = 0 };
	struct clock clock = { .last = 0 };
	struct pmclog_passed passed;
	struct pmclog_rec r;
	struct input in;

	if (input_fd_repairing(&in, path, fd))
		return;
	while (input_read(&in, &r) == PMCLOG_ITER_RECORD) {
		note_record(p, &last, &r);
		note_time(p, &clock, &r);
		/* the window [0, 0) is empty: skips all samples */
		while (input_pass(&in, 0, 0, &passed))
			;
	}
	note_end(p, &clock);
	wallclock_free(&clock.wall);
	input_close(&in);
}

static void read_directory(struct profile *p, const char *path, int dirfd)
{
	struct logdir dir;
	const char *why;
	uint32_t i;
	int fd;

	if (logdir_read(&dir, dirfd, path, &why))
		return;
	for (i = 0; i < dir.n; i++) {
		fd = logdir_open(&dir, &dir.logs[i], &why);
		if (fd >= 0)
			read_ids(p, dir.logs[i].label, fd);
	}
	logdir_free(&dir);
}

/* A second descriptor of the log, with a position of its own; or -1. */
static int open_again(const char *path)
{
	struct stat st;

	if (!strcmp(path, "-")) {
		if (lseek(STDIN_FILENO, 0, SEEK_CUR))
			return -1;
		path = "/proc/self/fd/0";
	}
	/* opening a FIFO would take it from its reader */
	if (stat(path, &st) ||
	    (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)))
		return -1;
	return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

bool ahead_ids(struct profile *p, const char *path)
{
	int fd = open_again(path);
	struct stat st;

	if (fd < 0)
		return false;
	if (!fstat(fd, &st) && S_ISDIR(st.st_mode)) {
		read_directory(p, path, fd);
		close(fd);
	} else {
		read_ids(p, path, fd);
	}
	p->ids.final = true;
	return true;
}

bool ahead_names_hold(const struct resolver *r, struct profile *p,
		      const char *log)
{
	char name[SHOWN_MAX];
	bool hold = true;
	uint32_t i;

	for (i = 0; i < r->n && i < p->objs.n; i++) {
		if (!r->open[i] || !objsyms_are_wrong(&r->syms[i], p, i))
			continue;
		warn_line("%s: the functions of %s are wrong: the file was replaced since "
			  "(build-id differs)", log,
			  shown_str(name, &p->str, p->objs.obj[i].path));
		hold = false;
	}
	if (!hold)
		warn_line("%s: the build-ids come last in a log: they are known in time if "
			  "it is a file, not a pipe", log);
	return hold;
}
