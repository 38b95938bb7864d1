// SPDX-License-Identifier: BSD-2-Clause
// What is looked at: kept in the address, so that it can be passed on.

let data;

// range: [from, to) in slices, or null; who: keys of keyOf()
const state = {
  view: 'flame', event: 0, range: null, who: [], search: '', callers: '0',
  up: '0', level: 'comm', fsort: '-self', psort: '-samples',
};
const VIEWS = ['flame', 'functions', 'processes', 'recording'];
const LEVELS = ['comm', 'pid', 'tid'];

// Of a series, as one of those that are one row on a level.
function keyOf(level, s) {
  return level === 'comm' ? 'comm:' + s.name :
    level === 'pid' ? 'pid:' + s.pid + ':' + s.name :
    'tid:' + s.tid + ':' + s.pid + ':' + s.name;
}

function keyText(key) {
  const parts = key.split(':');

  const which = +parts[1] < 0 ? 's not told apart' : ' ' + parts[1];

  return parts[0] === 'comm' ? key.slice(5) : parts[0] === 'pid' ?
    parts.slice(2).join(':') + ', process' + which :
    parts.slice(3).join(':') + ', thread' + which;
}

// All that depends on which samples are wanted.
const chosen = {
  ofSeries: null,	// by series: wanted
  total: 0,
  self: null,		// by node
  comms: null,		// by command: its own samples by node
};

// What is counted: events, if they are sampled at a rate.
function countsEvents() {
  return data.events[state.event].perSecond !== undefined;
}

function counted(n) {
  return several(n, countsEvents() ? 'event' : 'sample');
}

function inRange(slice) {
  return !state.range ||
    (slice >= state.range[0] && slice < state.range[1]);
}

function isWhole() { return !state.range && !state.who.length; }

function choose() {
  const cells = isWhole() ? data.whole : data.cells;
  const who = new Set(state.who);

  chosen.ofSeries = data.series.map(function (s) {
    return s.event === state.event && (!who.size ||
      LEVELS.some(function (l) { return who.has(keyOf(l, s)); }));
  });
  chosen.total = 0;
  chosen.self = new Float64Array(data.nodes.n);
  chosen.comms = new Map();
  for (let r = 0; r < cells.n; r++) {
    if (!chosen.ofSeries[cells.series[r]] || !inRange(cells.slice[r]))
      continue;
    const comm = data.series[cells.series[r]].name;
    let own = chosen.comms.get(comm);

    if (!own)
      chosen.comms.set(comm, own = new Map());
    for (let i = cells.from[r]; i < cells.from[r + 1]; i++) {
      const node = cells.node[i];

      chosen.self[node] += cells.count[i];
      own.set(node, (own.get(node) || 0) + cells.count[i]);
    }
    chosen.total += cells.sum[r];
  }
}

function rangeText() {
  const step = data.slice;

  return seconds(state.range[0] * step, step) + ' – ' +
    seconds(state.range[1] * step, step);
}

// Its name; or its number, if several have that name.
function eventKey(event, i) {
  return data.events.some(function (e) {
    return e !== event && e.name === event.name;
  }) ? String(i) : event.name;
}

function writeAddress() {
  const p = new URLSearchParams();

  p.set('view', state.view);
  if (data.events.length > 1)
    p.set('event', eventKey(data.events[state.event], state.event));
  if (state.range)
    p.set('range', state.range.map(function (s) {
      return (s * data.slice).toFixed(9).replace(/\.?0+$/, '');
    }).join('-'));
  state.who.forEach(function (key) { p.append('who', key); });
  ['search', 'callers', 'up', 'level', 'fsort', 'psort'].forEach(function (k) {
    if (state[k] !== defaults[k])
      p.set(k, state[k]);
  });
  try {
    history.replaceState(null, '', '#' + p);
  } catch (e) {
    // some browsers don't let files; then it is not kept
  }
}

const defaults = Object.assign({}, state);

// Seconds "A-B" as whole slices: those that have a part of it.  The nanoseconds
// of an address are a thousandth of the shortest slice.
function parseRange(s) {
  const m = /^([0-9.]+)-([0-9.]+)$/.exec(s || '');
  const end = slices();

  if (!m || !(+m[2] > +m[1]))
    return null;
  const from = Math.min(end - 1, Math.floor(+m[1] / data.slice + 1e-3));

  return [from, Math.max(from + 1, Math.min(end,
    Math.ceil(+m[2] / data.slice - 1e-3)))];
}

function slices() {
  const s = data.cells.slice, log = Math.ceil(data.log.seconds / data.slice);

  return Math.max(1, s.length ? s[s.length - 1] + 1 : 1,
    Math.min(log, 4096));
}

function oneOf(list, s, otherwise) {
  return list.indexOf(s) >= 0 ? s : otherwise;
}

function readAddress() {
  const p = new URLSearchParams(location.hash.slice(1));
  const event = data.events.findIndex(function (e, i) {
    return eventKey(e, i) === p.get('event');
  });

  state.view = oneOf(VIEWS, p.get('view'), defaults.view);
  state.event = event >= 0 ? event : defaults.event;
  state.range = parseRange(p.get('range'));
  state.who = p.getAll('who').filter(function (key) {
    return data.series.some(function (s) {
      return LEVELS.some(function (l) { return keyOf(l, s) === key; });
    });
  });
  state.search = p.get('search') || '';
  state.callers = oneOf(['0', '1'], p.get('callers'), '0');
  state.up = oneOf(['0', '1'], p.get('up'), '0');
  state.level = oneOf(LEVELS, p.get('level'), 'comm');
  state.fsort = p.get('fsort') || defaults.fsort;
  state.psort = p.get('psort') || defaults.psort;
}
