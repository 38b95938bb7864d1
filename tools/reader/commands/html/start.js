// SPDX-License-Identifier: BSD-2-Clause
// What belongs to no view: buttons, keys, and drawing what has changed.

let css_ = {};		// colours of the style sheet, read once for a drawing

function readColours() {
  ['fg', 'soft', 'line', 'field', 'accent', 'veil', 'mono']
    .forEach(function (k) { css_[k] = css('--' + k); });
}

const FOUND = { flame: foundFlame, functions: foundFunctions,
  processes: foundProcesses };
const UNITS = { flame: 'frame', functions: 'function', processes: 'row' };

function tellFound() {
  const found = state.search && FOUND[state.view] && FOUND[state.view]();

  id('matched').textContent = found ? 'matched: ' +
    share(found.samples, found.of) + ', ' + counted(found.samples) +
    ', ' + several(found.frames, UNITS[state.view]) : '';
}

function chip(text, patch) {
  const button = element('button', text + '  ✕');

  button.type = 'button';
  button.title = 'Show all again';
  button.addEventListener('click', function () { change(patch); });
  return button;
}

function drawChips() {
  const chips = state.who.map(function (key) {
    return chip(keyText(key), { who: state.who.filter(function (k) {
      return k !== key;
    }) });
  });

  if (state.range)
    chips.unshift(chip(rangeText(), { range: null }));
  if (chips.length)
    chips.push(element('span', counted(chosen.total), 'soft'));
  put.apply(null, [id('chips')].concat(chips));
}

function drawSwitches() {
  document.querySelectorAll('.switch').forEach(function (box) {
    box.querySelectorAll('button').forEach(function (b) {
      b.setAttribute('aria-pressed',
        state[box.dataset.option] === b.dataset.value);
    });
  });
  document.querySelectorAll('[role=tab]').forEach(function (b) {
    b.setAttribute('aria-selected', state.view === b.dataset.view);
  });
  VIEWS.forEach(function (v) {
    id(v).classList.toggle('shown', v === state.view);
  });
  id('event').value = state.event;
  if (id('search').value !== state.search)
    id('search').value = state.search;
  id('search').classList.toggle('bad', isBad(state.search));
}

function isBad(s) {
  try {
    return !new RegExp(s);
  } catch (e) {
    return true;
  }
}

const DRAW = { flame: drawFlame, functions: drawFunctions,
  processes: drawProcesses, recording: function () {} };

function draw() {
  readColours();
  drawSwitches();
  drawChips();
  drawHeat();
  DRAW[state.view]();
  tellFound();
}

// Anything that depends on @patch is made anew.
function change(patch) {
  const old = Object.assign({}, state);

  Object.assign(state, patch);
  if (old.event !== state.event || old.who !== state.who ||
      old.range !== state.range) {
    choose();
    countHeat();
    flame.valid = false;
  }
  if (old.callers !== state.callers) {
    flame.path = [];
    flame.valid = false;
  }
  if (old.event !== state.event)
    drawFacts();
  if (old.search !== state.search && flame.valid)
    searchFlame();
  hideTip();
  writeAddress();
  draw();
}

function back() {
  if (state.search)
    change({ search: '' });
  else if (state.view === 'flame' && flame.zoom !== flame.root)
    zoomTo(flame.root);
  else if (state.range || state.who.length)
    change({ range: null, who: [] });
  id('search').blur();
}

function pageKey(e) {
  const typing = document.activeElement === id('search') ||
    document.activeElement === id('event');

  if (e.key === 'Escape') {
    back();
  } else if (typing || e.altKey) {
    return;
  } else if (e.key === '/' || (e.key === 'f' && (e.ctrlKey || e.metaKey))) {
    id('search').focus();
    id('search').select();
  } else if (e.ctrlKey || e.metaKey) {
    return;
  } else if (e.key === 'c') {
    change({ view: 'flame', callers: state.callers === '1' ? '0' : '1' });
  } else if (e.key >= '1' && e.key <= '4') {
    change({ view: VIEWS[e.key - 1] });
  } else {
    return;
  }
  e.preventDefault();
}

function bindPage() {
  document.querySelectorAll('.switch button').forEach(function (b) {
    b.addEventListener('click', function () {
      const patch = {};

      patch[b.parentNode.dataset.option] = b.dataset.value;
      change(patch);
    });
  });
  document.querySelectorAll('[role=tab]').forEach(function (b) {
    b.addEventListener('click', function () {
      change({ view: b.dataset.view });
    });
  });
  id('event').addEventListener('change', function () {
    flame.path = [];
    change({ event: +id('event').value });
  });
  id('search').addEventListener('input', function () {
    change({ search: id('search').value });
  });
  window.addEventListener('keydown', pageKey);
  window.addEventListener('resize', draw);
  window.addEventListener('hashchange', function () {
    readAddress();
    renew();
  });
  window.matchMedia('(prefers-color-scheme: dark)')
    .addEventListener('change', draw);
}

// All of it, for what the address says.
function renew() {
  choose();
  countHeat();
  flame.valid = false;
  drawFacts();
  draw();
}

function fault(e) {
  id('fault').hidden = false;
  id('fault').textContent = 'This page does not work here: ' +
    (e.message || e.error || e);
}

function start() {
  window.addEventListener('error', fault);
  data = readData();
  defaults.event = Math.max(0, data.events.findIndex(function (e) {
    return e.samples;
  }));
  readAddress();
  startRecording();
  startHeat();
  startFlame();
  bindPage();
  renew();
  window.pmclog = { frames: listFrames, map: describeMap, log: data.log };
  document.documentElement.dataset.ready = 'yes';
}
