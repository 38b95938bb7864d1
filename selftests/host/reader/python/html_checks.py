#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""html_checks.py BROWSER PROFILE DIR: what pages do in a browser.

The pages and the logs they are of are made by test_html.sh.  Prints a line for
each check: "ok NAME", or "not ok NAME: why".
"""
import sys

from browser import Browser

CHECKS = []


def check(page):
    def add(f):
        CHECKS.append((page, f))
        return f
    return add


def same(got, want):
    assert got == want, "%r is not %r" % (got, want)


class Page:
    def __init__(self, browser, where):
        self.browser = browser
        self.where = where
        self.name = None

    def show(self, hash=""):
        self.browser.open("file://%s/%s.html#%s" % (self.where, self.name,
                                                    hash))
        self.run("document.getElementById('time').scrollIntoView()")

    def run(self, script):
        return self.browser.run(script)

    def text(self, selector):
        return self.run("document.querySelector(%r).textContent" % selector)

    def press(self, selector):
        self.run("document.querySelector(%r).scrollIntoView({block: "
                 "'center'})" % selector)
        self.browser.click(*self.run(
            "(function (b) { return [b.x + b.width / 2, b.y + b.height / 2]; }"
            ")(document.querySelector(%r).getBoundingClientRect())"
            % selector))

    def rows(self, table):
        return self.run("Array.from(document.querySelectorAll('#%s tbody tr'),"
                        "r => Array.from(r.cells, c => c.textContent))"
                        % table)

    def functions(self):
        """Self and total by name."""
        return {r[4]: (int(r[0].replace(",", "")), int(r[2].replace(",", "")))
                for r in self.rows("ftable")}

    def processes(self, *columns):
        return [tuple(r[c] for c in columns) for r in self.rows("ptable")]

    def frames(self, by="name"):
        """Samples of the frames drawn; of one name, their sum."""
        sums = {}
        for f in self.run("pmclog.frames()"):
            if not f["above"]:
                sums[f[by]] = sums.get(f[by], 0) + f["samples"]
        return sums

    def frame(self, name):
        """Where a frame is on the screen."""
        return self.run(
            "(function () { const f = pmclog.frames().find(f => f.name === %r)"
            ", c = document.getElementById('frames'); c.scrollIntoView({block:"
            " 'center'}); const b = c.getBoundingClientRect(); return [b.x + "
            "f.x + f.width / 2, b.y + f.y + 9]; })()" % name)

    def moment(self, seconds):
        """Where a time is on the map of time: as it is drawn, a column is
        %d slices from the top down."""
        return self.run(
            "(function (t) { const b = document.getElementById('heat')."
            "getBoundingClientRect(), h = pmclog.map(), i = Math.floor(t / "
            "h.slice + .001); return [b.x + h.left + (Math.floor(i / h.rows) +"
            " .5) * h.width, b.y + (i %% h.rows + .5) * h.height]; })(%.9f)"
            % seconds)

    def search(self, text):
        self.browser.key("/")
        same(self.run("document.activeElement.id"), "search")
        self.browser.type(text)


@check("plain")
def facts_of_the_log(p):
    p.show("event=cpu-clock")
    same(p.text("#facts"), "Samples10040.00 %% in the kernel"
         "Rate achieved99.0 %%103 of 104 asked for; throttled 1 time"
         "Lost4.76 %%3 ring full, 2 interrupted too often"
         "User chainsnot toldby frame pointers: on x86 the callers of leaf "
         "functions, and of code compiled without frame pointers, are missing"
         "Without name60.0 %%of samples; 47.1 %% of frames"
         "Logcomplete%s records" % p.run("pmclog.log.records"))
    assert "node · Linux 6.12-test" in p.text("#machine")


@check("plain")
def flame_graph_has_all(p):
    p.show("event=cpu-clock")
    same(p.frames(), {"all": 100, "alpha": 60, "beta": 40, "[lib]": 60,
                      "[other]": 20, "do_read": 40, "mod_func": 10,
                      "do_entry": 40})


@check("plain")
def table_has_all(p):
    p.show("view=functions&event=cpu-clock")
    same(p.functions(), {"[lib]": (40, 60), "[other]": (20, 20),
                         "do_read": (30, 40), "mod_func": (10, 10),
                         "do_entry": (0, 40)})


@check("plain")
def other_event(p):
    p.show("view=functions")
    p.run("(function (e) { e.value = 0; e.dispatchEvent(new Event('change'));"
          "})(document.getElementById('event'))")
    # what calls itself counts once
    same(p.functions(), {"do_read": (25, 25), "do_entry": (0, 25)})
    assert p.text("#facts").startswith("Samples25100.00 % in the kernel")
    p.show("event=cycles")
    same(p.frames()["all"], 25)


@check("rate")
def events_instead_of_samples(p):
    p.show()
    assert p.text("#facts").startswith(
        "Samples20of 100,000 events, 100.00 % in the kernel"), p.text("#facts")
    same(p.frames(), {"all": 100000, "alpha": 10000, "beta": 90000,
                      "do_entry": 100000, "do_read": 10000})
    same(p.text("#legend"), "110,000 events a cell")
    p.show("view=functions")
    same(p.functions(), {"do_entry": (90000, 100000),
                         "do_read": (10000, 10000)})
    assert "100,000 events" in p.text("#fnote"), p.text("#fnote")
    p.show("view=processes")
    same(p.processes(0, 2, 3), [("beta", "90,000", "90.00 %"),
                                ("alpha", "10,000", "10.00 %")])
    same(p.text("#ptable th:nth-child(3)"), "Events")
    p.show("range=0-1.5")
    same(p.frames()["all"], 10000)
    p.show("view=recording")
    assert ("cycles, 4,000 samples a second, periods 1,000 to 9,000" in
            p.text("#details")), p.text("#details")


@check("plain")
def dragging_chooses_time(p):
    p.show("event=cpu-clock")
    p.browser.drag(p.moment(1.75), p.moment(2.25))
    same(p.frames(), {"all": 40, "beta": 40, "do_entry": 40, "do_read": 40,
                      "mod_func": 10})
    p.press("[data-view=functions]")
    same(p.functions(), {"do_entry": (0, 40), "do_read": (30, 40),
                         "mod_func": (10, 10)})
    p.press("[data-view=processes]")
    same(p.processes(0, 1, 2), [("beta", "1", "40")])
    assert "40 samples" in p.text("#chips")
    p.browser.key("Escape")
    same(p.processes(0, 2), [("alpha", "60"), ("beta", "40")])


@check("plain")
def dragging_backwards(p):
    p.show("view=functions&event=cpu-clock")
    p.browser.drag(p.moment(3.5), p.moment(2.5))
    same(p.functions(), {"[lib]": (0, 20), "[other]": (20, 20)})


@check("plain")
def range_of_the_address(p):
    p.show("view=functions&event=cpu-clock&range=0-1.5")
    same(p.functions(), {"[lib]": (40, 40)})
    p.show("view=functions&event=cpu-clock&range=0-2.1")
    same(p.functions(), {"[lib]": (40, 40), "do_entry": (0, 40),
                         "do_read": (30, 40), "mod_func": (10, 10)})


@check("plain")
def choosing_a_process(p):
    p.show("view=processes&event=cpu-clock&level=pid")
    same(p.processes(0, 1, 2, 3), [("alpha", "7", "60", "60.00 %"),
                                   ("beta", "8", "40", "40.00 %")])
    p.press("#ptable tbody tr")
    same(p.processes(0), [("alpha",), ("beta",)])
    p.press("[data-view=functions]")
    same(p.functions(), {"[lib]": (40, 60), "[other]": (20, 20)})
    p.press("#chips button")
    same(len(p.functions()), 5)


@check("plain")
def threads_and_times(p):
    p.show("view=processes&event=cpu-clock&level=tid")
    same(p.processes(0, 1, 2, 3, 5, 6),
         [("alpha", "7", "7", "40", "0.500 s", "0.500 s"),
          ("beta", "8", "8", "40", "2.000 s", "2.000 s"),
          ("alpha", "7", "71", "20", "3.200 s", "3.200 s")])
    p.show("event=cpu-clock&who=tid:71:7:alpha")
    same(p.frames(), {"all": 20, "alpha": 20, "[lib]": 20, "[other]": 20})


@check("plain")
def sorting(p):
    p.show("view=functions&event=cpu-clock")
    names = [r[4] for r in p.rows("ftable")]
    same(names[:2], ["[lib]", "do_read"])
    p.press("#ftable th:nth-child(3) button")
    same([int(r[2]) for r in p.rows("ftable")], [60, 40, 40, 20, 10])
    same(p.run("document.querySelector('#ftable th:nth-child(3)')."
               "getAttribute('aria-sort')"), "descending")
    p.press("#ftable th:nth-child(3) button")
    same([int(r[2]) for r in p.rows("ftable")], [10, 20, 40, 40, 60])
    p.press("#ftable th:nth-child(5) button")
    same([r[4] for r in p.rows("ftable")], sorted(names))


@check("plain")
def search_in_the_flame_graph(p):
    p.show("event=cpu-clock")
    p.search("MOD_|^\\[oth")
    same(p.text("#matched"), "matched: 30.00 %, 30 samples, 2 frames")
    same({f["name"] for f in p.run("pmclog.frames()") if f["found"]},
         {"mod_func", "[other]"})
    p.browser.key("Escape")
    same(p.text("#matched"), "")


@check("plain")
def search_that_is_nested(p):
    p.show("event=cpu-clock&search=do_")
    same(p.text("#matched"), "matched: 40.00 %, 40 samples, 2 frames")


@check("plain")
def search_in_the_table(p):
    p.show("view=functions&event=cpu-clock")
    p.search("[lib")
    same(p.functions(), {"[lib]": (40, 60)})
    p.show("view=functions&event=cpu-clock&search=kernel|mymod")
    same(set(p.functions()), {"do_read", "do_entry", "mod_func"})


@check("plain")
def callers(p):
    p.show("event=cpu-clock")
    p.press("[data-option=callers] [data-value='1']")
    same(p.frames(), {"all": 100, "[lib]": 60, "[other]": 20, "do_read": 40,
                      "mod_func": 10, "do_entry": 40})
    same({f["name"]: f["samples"] for f in p.run("pmclog.frames()")
          if f["depth"] == 1}, {"[lib]": 40, "[other]": 20, "do_read": 30,
                                "mod_func": 10})


@check("plain")
def zoom_with_the_mouse(p):
    p.show("event=cpu-clock&search=mod")
    p.browser.click(*p.frame("do_entry"))
    same(p.frames(), {"do_entry": 40, "do_read": 40, "mod_func": 10})
    same(p.text("#matched"), "matched: 25.00 %, 10 samples, 1 frame")
    p.browser.key("Escape")
    p.browser.key("Escape")
    same(p.frames()["all"], 100)


@check("plain")
def zoom_with_keys(p):
    p.show("event=cpu-clock&view=flame")
    p.run("document.getElementById('frames').focus()")
    p.browser.key("ArrowDown")
    p.browser.key("ArrowDown")
    same(p.text("#told"), "alpha – command – 60 samples, 60.00 %")
    p.browser.key("ArrowRight")
    p.browser.key("Enter")
    same(p.frames(), {"beta": 40, "do_entry": 40, "do_read": 40,
                      "mod_func": 10})


@check("plain")
def upwards(p):
    p.show("event=cpu-clock")
    top = {f["name"]: f["y"] for f in p.run("pmclog.frames()")}
    p.press("[data-option=up] [data-value='1']")
    bottom = {f["name"]: f["y"] for f in p.run("pmclog.frames()")}
    assert top["all"] < top["alpha"] < top["[lib]"], top
    assert bottom["all"] > bottom["alpha"] > bottom["[lib]"], bottom


@check("plain")
def hovering_tells(p):
    p.show("event=cpu-clock")
    p.browser.hover(*p.frame("do_read"))
    same(p.text("#tip"), "do_read[kernel]40 samples, 40.00 %, 30 itself")


@check("plain")
def views_are_in_the_address(p):
    p.show("event=cpu-clock")
    p.browser.key("2")
    same(p.run("getComputedStyle(document.getElementById('functions'))."
               "display"), "block")
    p.browser.drag(p.moment(1.75), p.moment(2.25))
    address = p.run("location.hash")
    p.show(address[1:])
    same(set(p.functions()), {"do_entry", "do_read", "mod_func"})


@check("short")
def the_address_has_the_whole_range_and_no_more(p):
    p.show()
    slice = p.run("pmclog.map().step")
    for i in range(3):
        p.browser.drag(p.moment(41.5 * slice), p.moment((43.5 + i) * slice))
        address, chosen = p.run("[location.hash, pmclog.map().range]")
        same(chosen, [41 * slice, (44 + i) * slice])
        p.show()
        p.show(address[1:])
        same(p.run("pmclog.map().range"), chosen)


@check("plain")
def nothing_is_wider_than_the_window(p):
    p.browser.call("Emulation.setDeviceMetricsOverride", width=380, height=700,
                   deviceScaleFactor=2, mobile=True)
    for view in "flame", "functions", "processes", "recording":
        p.show("view=" + view)
        assert p.run("document.documentElement.scrollWidth") <= 380, view
    p.browser.call("Emulation.clearDeviceMetricsOverride")


@check("late")
def late_chains_are_whole(p):
    p.show("view=functions")
    same(p.functions(), {"do_read": (5, 5), "[lib]": (0, 5), "[third]": (2, 7),
                         "[other]": (3, 5), "do_entry": (4, 4),
                         "[unknown]": (0, 4)})


@check("evil")
def hostile_names_stay_text(p):
    for view in "flame", "functions", "processes", "recording":
        p.show("view=%s&search=script" % view)
        same(p.run("document.querySelectorAll('img,svg,iframe,object,a,link,"
                   "body script:not(:nth-last-child(-n+2)),[onerror],[onload],"
                   "[style*=url]').length"), 0)
        same(p.run("document.scripts.length"), 2)
    same(p.run("window.hit"), None)


@check("evil")
def hostile_names_can_be_read(p):
    evil = "</script><img/src=x/onerror=window.hit=1>"
    p.show("view=functions")
    assert evil in p.functions(), p.functions()
    p.show("view=processes")
    same(sorted(r[0] for r in p.rows("ptable")),
         ["-->\\x01\\xff", "</script><b>", "\\xe2\\x80\\xa8\\x1b[31m\"'"])
    p.browser.click(*p.run(
        "(function (b) { return [b.x + 30, b.y + 9]; })(document."
        "querySelector('#ptable tbody tr').getBoundingClientRect())"))
    p.show("view=flame")
    same(p.frames()[evil], 6)
    p.browser.hover(*p.frame(evil))
    assert p.text("#tip").startswith(evil)
    assert "<script>alert(1)</script>" in p.text("#machine")
    same(p.run("window.hit"), None)


@check("damaged")
def damage_is_told(p):
    p.show("view=recording")
    assert "Logdamaged" in p.text("#facts"), p.text("#facts")
    assert "not told" in p.text("#facts")


@check("events")
def events_that_are_left_out_are_told(p):
    p.show()
    assert "2 events with the fewest samples: not in this page" in \
        p.text("#details"), p.text("#details")


@check("big")
def time_of_a_large_log(p):
    # when its samples were taken: see test_html.sh
    times = [i // 10 * .01 + i % 10 * 1e-6 for i in range(60000)]
    p.show("view=processes&range=13.1-29")
    begin, end = p.run("pmclog.map().range")
    assert 12 < begin < 13.1 and 29 <= end < 31, (begin, end)
    same(sum(int(r[2].replace(",", "")) for r in p.rows("ptable")),
         sum(begin <= t < end for t in times))
    count, slice = p.run("[pmclog.map().count, pmclog.map().slice]")
    want = [0] * len(count)
    for t in times:
        want[int(t / slice)] += 1
    same(count, want)


def folded(p):
    """Stacks and samples of the large log, as pmclog fold has them."""
    with open(p.where + "/big.folded") as f:
        for line in f:
            stack, n = line.rsplit(" ", 1)
            yield stack.replace("_[k]", "").split(";"), int(n)


@check("big")
def functions_of_a_large_log(p):
    own, total = {}, {}
    for stack, n in folded(p):
        own[stack[-1]] = own.get(stack[-1], 0) + n
        for name in set(stack[1:]):
            total[name] = total.get(name, 0) + n
    p.show("view=functions")
    same(p.functions(), {name: (own.get(name, 0), total[name])
                         for name in total})


@check("big")
def paths_of_a_large_log(p):
    want = {}
    for stack, n in folded(p):
        for depth, name in enumerate(stack[:2]):
            key = "%d %s" % (depth + 1, name)
            want[key] = want.get(key, 0) + n
    p.show("view=flame")
    got = {}
    for f in p.run("pmclog.frames()"):
        key = "%d %s" % (f["depth"], f["name"])
        got[key] = got.get(key, 0) + f["samples"]
    same({k: n for k, n in got.items() if k[0] in "12"}, want)


@check("big")
def a_part_of_a_large_log(p):
    p.show("view=processes&level=comm&range=5-10")
    sums = {r[0]: int(r[2].replace(",", "")) for r in p.rows("ptable")}
    p.show("view=flame&range=5-10")
    got = p.frames()
    for name, n in sums.items():
        same(got[name], n)
    p.show("view=functions&range=5-10")
    own = p.functions()
    same(sum(n for n, total in own.values()), sum(sums.values()))
    assert own["[too small to keep]"][0] > 0, own


def main():
    program, profile, where = sys.argv[1:]
    browser = Browser(program, profile)
    page = Page(browser, where)
    for name, f in CHECKS:
        page.name = name
        browser.errors.clear()
        title = f.__name__.replace("_", " ")
        try:
            f(page)
            assert not browser.errors, browser.errors
            print("ok", title)
        except Exception as e:
            print("not ok %s: %s" % (title, " ".join(repr(e).split())))
            if isinstance(e, (EOFError, TimeoutError)):
                break	# the others would wait in vain, too
        sys.stdout.flush()
    fetched = sorted({url for url in browser.requests
                      if not url.startswith(("file://" + where, "about:",
                                             "data:"))})
    print("not ok nothing is fetched: %s" % fetched if fetched else
          "ok nothing is fetched")
    browser.close()


main()
