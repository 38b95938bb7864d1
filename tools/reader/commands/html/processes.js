// SPDX-License-Identifier: BSD-2-Clause
// Who was sampled.  The rows stay when some of them are chosen.

const SPARKS = 130;

function countProcesses() {
  const cells = data.cells, rows = new Map(), level = state.level;
  const n = slices(), ofSeries = data.series.map(function (s) {
    if (s.event !== state.event)
      return null;
    const key = keyOf(level, s);
    let r = rows.get(key);

    if (!r)
      rows.set(key, r = { key: key, name: s.name, pid: s.pid, tid: s.tid,
        pids: new Set(), samples: 0, first: s.first, last: s.last,
        order: rows.size, spark: new Float64Array(Math.min(SPARKS, n)) });
    r.first = Math.min(r.first, s.first);
    r.last = Math.max(r.last, s.last);
    return r;
  });

  for (let i = 0; i < cells.n; i++) {
    const r = ofSeries[cells.series[i]];

    if (!r)
      continue;
    r.spark[Math.min(r.spark.length - 1, Math.floor(cells.slice[i] / n *
      r.spark.length))] += cells.sum[i];
    if (!inRange(cells.slice[i]))
      continue;
    r.samples += cells.sum[i];
    r.pids.add(data.series[cells.series[i]].pid);
  }
  return Array.from(rows.values()).filter(function (r) { return r.samples; });
}

// When it was active: each bar is a part of the whole log.
function sparkCell(r) {
  const td = element('td'), canvas = element('canvas');
  const n = r.spark.length, w = 260 / n;
  const max = r.spark.reduce(function (a, b) { return Math.max(a, b); }, 1);

  canvas.width = 520;
  canvas.height = 40;
  const c = canvas.getContext('2d');

  c.scale(2, 2);
  r.spark.forEach(function (v, i) {
    const t = i / n * slices();
    const h = v ? Math.max(2, 18 * v / max) : 0;

    c.globalAlpha = !state.range || (t + slices() / n > state.range[0] &&
      t < state.range[1]) ? 1 : .3;
    c.fillStyle = v ? css_.accent : css_.line;
    c.fillRect(i * w, 20 - (h || 1), Math.max(w - .5, .5), h || 1);
  });
  td.append(canvas);
  return td;
}

function idText(id) { return id === -2 ? '…' : id < 0 ? '?' : String(id); }

function timeCell(t) {
  return element('td', seconds(t, .001), 'num');
}

const WHO = {
  name: { key: 'name', head: 'Command',
    value: function (r) { return r.name; },
    cell: function (r) { return element('td', r.name, 'name'); } },
  pids: { key: 'pids', head: 'Processes', num: true,
    value: function (r) { return r.pids.size; },
    cell: function (r) {
      return element('td', (r.pids.has(-2) ? '≥ ' : '') +
        number(r.pids.size), 'num');
    } },
  pid: { key: 'pid', head: 'PID', num: true,
    value: function (r) { return r.pid; },
    cell: function (r) { return element('td', idText(r.pid), 'num'); } },
  tid: { key: 'tid', head: 'TID', num: true,
    value: function (r) { return r.tid; },
    cell: function (r) { return element('td', idText(r.tid), 'num'); } },
};
const WHEN = [
  { key: 'samples', head: 'Samples', events: 'Events', num: true,
    value: function (r) { return r.samples; },
    cell: function (r) { return numCell(r.samples); } },
  { head: 'Share', num: true,
    cell: function (r) {
      return shareCell(r.samples, processTotal, processMax);
    } },
  { key: 'first', head: 'First', num: true,
    value: function (r) { return r.first; },
    cell: function (r) { return timeCell(r.first); } },
  { key: 'last', head: 'Last', num: true,
    value: function (r) { return r.last; },
    cell: function (r) { return timeCell(r.last); } },
  { head: 'When, in the whole log', cell: sparkCell },
];
const PROCESS_COLUMNS = {
  comm: [WHO.name, WHO.pids].concat(WHEN),
  pid: [WHO.name, WHO.pid].concat(WHEN),
  tid: [WHO.name, WHO.pid, WHO.tid].concat(WHEN),
};
let processTotal = 0, processMax = 0;

function toggleWho(key, add) {
  const on = state.who.indexOf(key) >= 0;
  const others = add ? state.who.filter(function (k) { return k !== key; }) :
    [];

  change({ who: on ? others : others.concat([key]) });
}

function bindRow(tr, r) {
  tr.tabIndex = 0;
  tr.setAttribute('aria-selected', state.who.indexOf(r.key) >= 0);
  tr.addEventListener('click', function (e) {
    toggleWho(r.key, e.ctrlKey || e.metaKey || e.shiftKey);
  });
  tr.addEventListener('keydown', function (e) {
    if (e.key === 'Enter' || e.key === ' ') {
      e.preventDefault();
      toggleWho(r.key, e.ctrlKey || e.metaKey || e.shiftKey);
    }
  });
}

function processRows() {
  const re = pattern(state.search), all = countProcesses();

  processMax = all.reduce(function (a, r) { return Math.max(a, r.samples); },
    0);
  processTotal = all.reduce(function (a, r) { return a + r.samples; }, 0);
  return all.filter(function (r) {
    return !re || re.test(r.name) || re.test(String(r.pid));
  });
}

function drawProcesses() {
  const rows = processRows();

  id('pnote').textContent = several.apply(null, [rows.length].concat(
    { comm: 'command', pid: ['process', 'processes'],
      tid: 'thread' }[state.level])) +
    ', ' + counted(processTotal) +
    (state.range ? ' in the time chosen' : '') + '. A click shows only that in the other views, Ctrl-click adds.';
  drawTable({ table: id('ptable'), columns: PROCESS_COLUMNS[state.level],
    rows: rows, sort: state.psort, what: 'processes', onRow: bindRow,
    onSort: function (s) { change({ psort: s }); } });
}

function foundProcesses() {
  const rows = processRows();

  return { samples: rows.reduce(function (a, r) { return a + r.samples; }, 0),
    frames: rows.length, of: processTotal };
}
