/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * -T: shows the log on the screen as it grows.  The log is read whenever there
 * is data, the screen is drawn once per interval, keys act at once.
 */
#include <curses.h>
#include <errno.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "analysis/ahead.h"
#include "base/say.h"
#include "live/top.h"

#define NS_PER_MS	1000000ULL
#define FIRST_NS	1000000000ULL	/* longest wait for the first screen */
#define BURST_NS	100000000ULL	/* reading, before keys are checked */
#define DEFAULT_THRESHOLD 0.5
#define STATUS_ROW	1

/* With deltas only, chains can be forgotten when there are so many. */
#define CHAINS_KEPT	(1U << 20)

/**
 * struct session - a view and its output
 * @path:   file for the screens as text; NULL: the terminal
 * @plain:  the open file; NULL until there is something to write
 * @tty:    descriptor of the keyboard, -1: none
 * @status: the exit status so far
 * @ended:  no more data: the log is complete, or the end of a file was reached
 * @prefix: a 'c' waits for its second key
 */
struct session {
	struct top	top;
	struct top_text	text;
	struct input	*in;
	const char	*path;
	FILE		*plain;
	FILE		*keyboard;
	SCREEN		*screen;
	int		tty;
	int		status;
	int		ended;
	int		failed;
	int		quit;
	int		prefix;
	uint64_t	next;
	uint64_t	interval;
};

/* The signal that asks for the end */
static volatile sig_atomic_t stopped;

static void stop(int signal)
{
	stopped = signal;
}

/* ------------------------------------------------------------------------
 * Options
 */
static int no_screen(void)
{
	warn_line("this terminal cannot be used; -o file takes the screens as text");
	return EX_UNAVAILABLE;
}

static int plugin_option(struct top *t, const char *option)
{
	char *end = NULL;

	if (!strncmp(option, "threshold=", 10)) {
		t->threshold = strtod(option + 10, &end);
		/* no number is neither less nor more */
		if (!(t->threshold >= 0 && t->threshold <= 100))
			end = NULL;
	} else if (!strncmp(option, "skiplink=", 9)) {
		t->skiplink = strtol(option + 9, &end, 10) != 0;
	}
	if (end && !*end && end[-1] != '=')
		return 0;
	warn_line("-f %s: not threshold=PERCENT or skiplink=0 or 1", option);
	return -1;
}

static int plugin_options(struct top *t)
{
	size_t i;

	t->threshold = DEFAULT_THRESHOLD;
	for (i = 0; i < t->o.nplugin; i++)
		if (plugin_option(t, t->o.plugin[i]))
			return -1;
	return 0;
}

int top_check(const struct reading *o)
{
	struct top t = { .o = *o };

	if (plugin_options(&t))
		return EX_USAGE;
	if (o->text_path || !isatty(STDOUT_FILENO) || terminal_is_usable())
		return 0;
	return no_screen();
}

/* ------------------------------------------------------------------------
 * The screen
 */
static int open_screen(struct session *s)
{
	const char *path = s->top.o.text_path;

	s->tty = -1;
	s->path = path ? path : isatty(STDOUT_FILENO) ? NULL : "-";
	if (s->path)
		return 0;
	/* standard input may be the log */
	s->keyboard = fopen("/dev/tty", "r+e");
	s->screen = s->keyboard ? newterm(NULL, stdout, s->keyboard) : NULL;
	if (!s->screen)
		return no_screen();
	s->tty = fileno(s->keyboard);
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	curs_set(0);
	return 0;
}

static int close_screen(struct session *s)
{
	if (s->screen) {
		endwin();
		delscreen(s->screen);
	}
	if (s->keyboard)
		fclose(s->keyboard);
	if (!s->plain)
		return 0;
	if (!s->status)
		return text_close(s->plain, s->path);
	/* what has failed has been said */
	if (s->plain != stdout)
		fclose(s->plain);
	return 0;
}

static void measure(struct session *s)
{
	s->text.width = 132;
	s->text.height = 60;
	if (s->path)
		return;
	s->text.width = COLS < TOP_COLUMNS ? (unsigned int)COLS : TOP_COLUMNS;
	s->text.height = (unsigned int)LINES;
}

static void print(struct session *s)
{
	size_t i;

	if (!s->plain)
		s->plain = text_open(s->path);
	if (!s->plain) {
		s->status = EX_CANTCREAT;
		s->quit = 1;
		return;
	}
	for (i = 0; i < s->text.n; i++)
		fprintf(s->plain, "%s\n", s->text.line[i]);
	putc('\n', s->plain);
	s->status = text_flush(s->plain, s->path);
	s->quit = s->status != 0;
}

static void paint(struct session *s)
{
	size_t i;

	if (s->path) {
		print(s);
		return;
	}
	erase();
	for (i = 0; i < s->text.n; i++) {
		attrset(i == 2 ? A_REVERSE : A_NORMAL);
		mvaddstr((int)i, 0, s->text.line[i]);
	}
	attrset(A_NORMAL);
	refresh();
}

__attribute__((format(printf, 2, 3)))
static void tell(struct session *s, const char *fmt, ...)
{
	char line[NAME_MAX_SHOWN + 64];
	va_list ap;

	if (s->path)
		return;
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	move(STATUS_ROW, 0);
	clrtoeol();
	mvaddnstr(STATUS_ROW, 0, line, COLS);
	refresh();
}

/* ------------------------------------------------------------------------
 * Reading and drawing
 */
static void forget(struct top *t)
{
	profile_forget(&t->log.p);
	t->nbefore = t->nnow = 0;
}

/* Looks up the samples so far; reading continues afterwards. */
static int look_up(struct top *t)
{
	profile_look(&t->log.p);
	return log_resolve(&t->log);
}

/* Text has no key for the next PMC: each has a screen. */
static void print_others(struct session *s)
{
	struct top *t = &s->top;
	uint32_t first = t->event;

	for (top_next_event(t); t->event != first && !s->quit; top_next_event(t)) {
		top_redraw(t, &s->text);
		print(s);
	}
}

static void draw(struct session *s)
{
	struct top *t = &s->top;

	s->next = now_ns() + s->interval;
	/* an invalid log must not overwrite an existing file */
	if (t->pause || (s->path && !t->log.p.log.records))
		return;
	s->status = look_up(t);
	s->quit |= s->status != 0;
	/* the last samples stay on the screen when no more can come */
	if (s->quit || (s->ended && s->text.n && !top_fresh(t)))
		return;
	measure(s);
	top_draw(t, &s->text);
	paint(s);
	if (s->path)
		print_others(s);
	if (t->delta && t->log.p.chains.n > CHAINS_KEPT)
		forget(t);
}

/* Redraws after a key: the same samples in another view. */
static void draw_again(struct session *s)
{
	struct top *t = &s->top;

	if (look_up(t))
		return;
	measure(s);
	top_redraw(t, &s->text);
	paint(s);
}

static void read_some(struct session *s)
{
	uint64_t until = now_ns() + BURST_NS;
	enum pmclog_iter_status status;
	struct pmclog_rec r;
	unsigned int n = 0;

	do {
		status = input_poll(s->in, &r);
		if (status != PMCLOG_ITER_RECORD)
			break;
		if (!input_unwanted(&s->top.o, &r))
			profile_record(&s->top.log.p, &r);
		/* the end of its log is the end of our own recording */
		if (r.type == PMCLOG_T_CLOSELOG &&
		    s->top.o.live)
			status = PMCLOG_ITER_EOF;
	} while (status == PMCLOG_ITER_RECORD &&
		 (++n % 1024 || now_ns() < until));
	s->ended = status <= 0;
	s->failed = status == PMCLOG_ITER_ERROR;
}

/* ------------------------------------------------------------------------
 * Keys
 */
static void second_key(struct session *s, int key)
{
	s->prefix = 0;
	s->top.delta = key == 'd';
	draw_again(s);
	tell(s, "switching to %s mode", key == 'd' ? "delta" : "accumulation");
}

static void next_view(struct session *s)
{
	static const char *const names[VIEW_N] = {
		[VIEW_CALLGRAPH] = "callgraph", [VIEW_CALLTREE] = "calltree",
	};
	struct top *t = &s->top;

	t->view = (t->view + 1) % VIEW_N;
	draw_again(s);
	tell(s, "switching to view %s", names[t->view]);
}

static void change_pmc(struct session *s, int key)
{
	struct top *t = &s->top;
	char name[NAME_MAX_SHOWN];

	if (key == 'm')
		t->merge = !t->merge;
	else
		top_next_event(t);
	draw_again(s);
	top_event_name(t, name);
	if (key == 'm')
		tell(s, "merge PMC %s", t->merge ? "on" : "off");
	else
		tell(s, "switching to PMC %.500s", name);
}

static void toggle(struct session *s, int *flag, const char *what)
{
	*flag = !*flag;
	draw_again(s);
	tell(s, "%s %s", what, *flag ? "on" : "off");
}

static void obey(struct session *s, int key)
{
	struct top *t = &s->top;

	if (s->prefix) {
		second_key(s, key);
		return;
	}
	switch (key) {
	case 'A':
		toggle(s, &t->o.no_symbols, "addresses");
		break;
	case 'I':
		toggle(s, &t->o.offsets, "offsets");
		break;
	case 'f':
		toggle(s, &t->skiplink, "skip empty link");
		break;
	case 'c':
		s->prefix = 1;
		tell(s, "enter mode 'd' or 'a' => ");
		break;
	case 'm': case 'p':
		change_pmc(s, key);
		break;
	case 'n':
		next_view(s);
		break;
	case ' ':
		t->pause = !t->pause;
		tell(s, "%s", t->pause ?
		     "pause => press space again to continue" : "");
		break;
	case 'q':
		tell(s, "exiting...");
		s->quit = 1;
		break;
	case KEY_RESIZE:
		draw_again(s);
		break;
	}
}

/* ------------------------------------------------------------------------
 * The loop
 */
static int poll_ms(const struct session *s)
{
	uint64_t now = now_ns();

	if (s->next <= now)
		return 0;
	return (int)((s->next - now + NS_PER_MS - 1) / NS_PER_MS);
}

static void wait_for_something(struct session *s)
{
	struct pollfd fds[] = {
		/* a file that has ended is checked once per interval */
		{ .fd = s->ended ? -1 : s->in->fd, .events = POLLIN },
		{ .fd = s->tty, .events = POLLIN },
	};
	int key;

	if (poll(fds, 2, poll_ms(s)) < 0 && errno != EINTR)
		s->quit = 1;
	/* a terminal that is gone must not be read or written */
	if (stopped || (fds[1].revents & (POLLHUP | POLLERR | POLLNVAL)))
		s->quit = 1;
	while (s->screen && !s->quit && !stopped && (key = getch()) != ERR)
		obey(s, key);
}

/* Text output, and a recording of our own, end with the log. */
static int over(const struct session *s)
{
	return s->ended && (s->path || s->top.o.live);
}

static void run(struct session *s)
{
	s->next = now_ns() + (s->interval < FIRST_NS ? s->interval : FIRST_NS);
	while (!s->quit) {
		int was = s->ended;

		read_some(s);
		if (over(s))
			break;
		if (now_ns() >= s->next || (s->ended && !was))
			draw(s);
		if (!s->quit)
			wait_for_something(s);
	}
	if (!s->quit && s->path)
		draw(s);
}

#define LOOK_MS	100	/* at a signal while the rest of a log is waited for */

/* Asks the recording to end, and reads the rest of its log. */
static void end_recording(struct session *s)
{
	struct pmclog_rec r;
	int status;

	if (!s->top.o.live || s->ended)
		return;
	/* one that was killed has left this process to another */
	if (getppid() == s->top.o.live && stopped != TOP_NO_RECORDING)
		kill(getppid(), SIGINT);
	while (stopped != TOP_NO_RECORDING &&
	       (status = pmclog_iter_next(s->in->it, &r)) > 0 &&
	       !(status == PMCLOG_ITER_RECORD &&
		 r.type == PMCLOG_T_CLOSELOG))
		if (status == PMCLOG_ITER_MORE)
			input_wait(s->in, LOOK_MS);
}

static void catch_signals(void)
{
	struct sigaction act = { .sa_handler = stop };
	static const int signals[] = {
		SIGINT, SIGTERM, SIGHUP, SIGQUIT, TOP_NO_RECORDING,
	};
	struct sigaction old;
	size_t i;

	sigaddset(&act.sa_mask, SIGVTALRM);	/* demangle.c would leave this handler, too */
	for (i = 0; i < nitems(signals); i++) {
		sigaction(signals[i], NULL, &old);
		if (old.sa_handler != SIG_IGN)
			sigaction(signals[i], &act, NULL);
	}
}

int top_run(const struct reading *o, struct input *in)
{
	struct session s = { .in = in, .top = {
		.o = *o, .merge = 1, .delta = 1,
	} };
	int status;

	mem_status = EX_OSERR;
	setlocale(LC_CTYPE, "");
	if (plugin_options(&s.top))
		return EX_USAGE;
	s.interval = (uint64_t)(o->interval * 1e9);
	log_init(&s.top.log, &s.top.o);
	s.top.log.p.events.apart = true;
	/* a log that is complete has them at its end, behind the first screens */
	if (s.top.log.r.log_path)
		ahead_ids(&s.top.log.p, s.top.log.r.log_path);
	catch_signals();
	status = open_screen(&s);
	if (!status) {
		run(&s);
		status = close_screen(&s);
		end_recording(&s);
		/* a file on a terminal may still grow */
		if (s.path && s.ended && !o->live && !o->quiet)
			log_warn(&s.top.log);
		if (s.failed)
			status = input_failed(in);
		else if (s.ended && !s.top.log.p.log.records &&
			 !o->live)
			status = input_was_empty(in);
	}
	top_text_free(&s.text);
	free(s.text.line);
	free(s.top.before);
	free(s.top.now);
	free(s.top.lost_before);
	free(s.top.lost_now);
	log_free(&s.top.log);
	return s.status ? s.status : status;
}
