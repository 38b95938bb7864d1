// SPDX-License-Identifier: BSD-2-Clause
// The map of time: columns from left to right, each from the top down.

const HEAT = { left: 58, bottom: 20, right: 2 };
const heat = { count: null, max: 0, rows: 1, cols: 1, w: 1, h: 1, step: 1,
  drag: null, edge: 0 };

// Stops of the colours for few to many samples.
const HEAT_LIGHT = [[255, 243, 214], [254, 201, 112], [245, 132, 47],
  [207, 57, 24], [112, 15, 28]];
const HEAT_DARK = [[58, 40, 30], [122, 58, 22], [196, 92, 22],
  [246, 156, 52], [255, 229, 140]];

function heatColour(part) {
  const stops = isDark() ? HEAT_DARK : HEAT_LIGHT;
  const at = Math.min(1, part) * (stops.length - 1);
  const i = Math.min(stops.length - 2, Math.floor(at)), f = at - i;

  return 'rgb(' + stops[i].map(function (v, k) {
    return Math.round(v + (stops[i + 1][k] - v) * f);
  }).join(',') + ')';
}

// How many slices of the map one of the other views' is.
function heatRatio() { return Math.round(data.slice / data.heatSlice); }

// A column is a second where that looks well, else a power of two of slices.
function heatShape(n) {
  const second = Math.round(1 / data.heatSlice);
  const ratio = heatRatio();
  let rows = 32;

  while (rows > ratio && n / rows < 24)
    rows /= 2;
  if (second >= 8 && second <= 64 && n / second >= 24)
    rows = second;
  heat.rows = Math.min(Math.max(rows, ratio), Math.max(1, n));
  heat.cols = Math.ceil(n / heat.rows);
}

// The samples of each slice; the range does not matter here.
function countHeat() {
  const runs = data.heat, n = slices() * heatRatio();
  const sorted = [];

  heat.count = new Float64Array(n);
  for (let r = 0; r < runs.n; r++)
    if (chosen.ofSeries[runs.series[r]] && runs.slice[r] < n)
      heat.count[runs.slice[r]] += runs.sum[r];
  heat.count.forEach(function (v) { if (v) sorted.push(v); });
  sorted.sort(function (a, b) { return a - b; });
  // a few slices with far more than all others would make those look empty
  heat.max = sorted.length ? sorted[Math.floor(.995 * (sorted.length - 1))] : 1;
  heatShape(n);
}

// Left, top and width of a cell, in whole pixels.
function heatPlace(slice) {
  const col = Math.floor(slice / heat.rows);
  const left = HEAT.left + Math.round(col * heat.w);

  return [left, (slice % heat.rows) * heat.h,
    HEAT.left + Math.round((col + 1) * heat.w) - left];
}

function drawHeatCells(c) {
  const gap = Math.min(heat.w, heat.h) > 4 ? 1 : 0;

  for (let i = 0; i < heat.count.length; i++) {
    const at = heatPlace(i), v = heat.count[i];

    c.fillStyle = v ? heatColour(v / heat.max) : css_.field;
    c.fillRect(at[0], at[1], at[2] - gap, heat.h - gap);
  }
}

// What is not chosen is veiled; lines are drawn round what is.
function drawHeatRange(c, range) {
  const ratio = heatRatio(), n = heat.count.length;
  const from = range[0] * ratio, to = Math.min(range[1] * ratio, n);
  const bounds = [[0, from], [to, n]];

  c.fillStyle = css_.veil;
  bounds.forEach(function (b) {
    for (let i = b[0]; i < b[1];) {
      const at = heatPlace(i);
      const run = Math.min(b[1] - i, heat.rows - i % heat.rows);

      c.fillRect(at[0], at[1], at[2], run * heat.h);
      i += run;
    }
  });
  c.fillStyle = css_.accent;
  [[from, -1], [to - 1, heat.h - 1]].forEach(function (edge) {
    const at = heatPlace(edge[0]);

    c.fillRect(at[0], Math.max(0, at[1] + edge[1]), at[2], 2);
    c.fillRect(at[0] + (edge[1] < 0 ? -1 : at[2] - 1),
      edge[1] < 0 ? at[1] : 0, 2,
      edge[1] < 0 ? (heat.rows - edge[0] % heat.rows) * heat.h :
        (edge[0] % heat.rows + 1) * heat.h);
  });
}

// A round step of which a few fit.
function niceStep(span, most) {
  const raw = span / Math.max(1, most);
  const base = Math.pow(10, Math.floor(Math.log10(raw)));
  const by = [1, 2, 5, 10].find(function (k) { return k * base >= raw; });

  return by * base;
}

function drawHeatAxes(c, height) {
  const column = heat.rows * data.heatSlice, span = heat.cols * column;
  const step = niceStep(span, heat.cols * heat.w / 90);

  c.fillStyle = css_.soft;
  c.font = '11px system-ui, sans-serif';
  c.textBaseline = 'top';
  c.textAlign = 'left';
  for (let i = 0; i * step < span; i++) {
    const x = HEAT.left + i * step / column * heat.w;
    const text = seconds(i * step, step);

    c.fillRect(x, height - HEAT.bottom, 1, 4);
    if (x + c.measureText(text).width < HEAT.left + heat.cols * heat.w + 2)
      c.fillText(text, x + 3, height - HEAT.bottom + 5);
  }
  c.textAlign = 'right';
  c.fillText('+0', HEAT.left - 6, 0);
  if (heat.rows > 1) {
    c.textBaseline = 'bottom';
    c.fillText('+' + duration(column), HEAT.left - 6, height - HEAT.bottom);
  }
}

function drawHeat() {
  const canvas = id('heat'), width = canvas.clientWidth;

  if (!width)
    return;
  heat.w = Math.min(48, (width - HEAT.left - HEAT.right) / heat.cols);
  heat.h = Math.max(3, Math.min(11, Math.floor(140 / heat.rows)));
  const height = heat.rows * heat.h + HEAT.bottom;
  const c = prepare(canvas, width, height);

  drawHeatCells(c);
  if (heat.drag || state.range)
    drawHeatRange(c, heat.drag || state.range);
  drawHeatAxes(c, height);
  drawLegend();
}

function drawLegend() {
  const box = id('legend'), canvas = element('canvas');

  put(box, element('span', '1'), canvas,
    element('span', counted(heat.max) + ' a cell'));
  canvas.width = 90;
  canvas.height = 10;
  const c = canvas.getContext('2d');

  for (let x = 0; x < 90; x++) {
    c.fillStyle = heatColour(x / 89);
    c.fillRect(x, 0, 1, 10);
  }
  id('timehint').textContent = (heat.rows > 1 ? 'A column is ' +
    duration(heat.rows * data.heatSlice) + ', downwards; a cell ' : 'A cell ') +
    'is ' + duration(data.heatSlice) + '. Drag to choose a part' +
    (heatRatio() > 1 ? ', in steps of ' + duration(data.slice) : '') +
    (state.range ? '; Escape shows all.' : '.');
}

// The slice of the map that is nearest to a place on it.
function heatAt(e) {
  const box = id('heat').getBoundingClientRect();
  const col = Math.floor((e.clientX - box.left - HEAT.left) / heat.w);
  const row = Math.floor((e.clientY - box.top) / heat.h);
  const i = Math.max(0, Math.min(heat.cols - 1, col)) * heat.rows +
    Math.max(0, Math.min(heat.rows - 1, row));

  return Math.min(i, heat.count.length - 1);
}

function slicesBetween(a, b) {
  const ratio = heatRatio();

  return [Math.floor(Math.min(a, b) / ratio),
    Math.floor(Math.max(a, b) / ratio) + 1];
}

function tellHeat(e) {
  const i = heatAt(e), t = i * data.heatSlice;
  const lines = [seconds(t, data.heatSlice) + ': ' +
    counted(heat.count[i])];

  if (heat.drag)
    lines.push(seconds(heat.drag[0] * data.slice, data.slice) + ' – ' +
      seconds(heat.drag[1] * data.slice, data.slice));
  showTip(e.clientX, e.clientY, lines);
}

// Arrows move an edge of the range, with Shift by a column.
function heatKey(e) {
  const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -1, ArrowDown: 1 }[e.key];
  const wide = e.key === 'ArrowLeft' || e.key === 'ArrowRight';
  const step = wide ? Math.max(1, heat.rows / heatRatio()) : 1;

  if (!by)
    return;
  e.preventDefault();
  const n = slices(), r = state.range || [0, Math.max(1, Math.min(n, step))];
  let from = r[0], to = r[1];

  if (state.range && !e.shiftKey)
    from = Math.max(0, Math.min(n - (to - from), from + by * step));
  to = e.shiftKey ? Math.max(from + 1, Math.min(n, to + by * step)) :
    from + r[1] - r[0];
  change({ range: [from, to] });
}

// How it is drawn, for the console.
function describeMap() {
  return { left: HEAT.left, rows: heat.rows, columns: heat.cols,
    width: heat.w, height: heat.h, slice: data.heatSlice,
    count: Array.from(heat.count), step: data.slice,
    range: state.range && state.range.map(function (s) {
      return s * data.slice;
    }) };
}

function startHeat() {
  const canvas = id('heat');
  let begin = -1;

  canvas.addEventListener('pointerdown', function (e) {
    if (e.button)
      return;
    begin = heatAt(e);
    heat.drag = slicesBetween(begin, begin);
    canvas.setPointerCapture(e.pointerId);
    drawHeat();
  });
  canvas.addEventListener('pointermove', function (e) {
    if (begin >= 0) {
      heat.drag = slicesBetween(begin, heatAt(e));
      drawHeat();
    }
    tellHeat(e);
  });
  canvas.addEventListener('pointerup', function () {
    const range = heat.drag;

    begin = -1;
    heat.drag = null;
    if (range)
      change({ range: range });
  });
  canvas.addEventListener('pointercancel', function () {
    begin = -1;
    heat.drag = null;
    drawHeat();
  });
  canvas.addEventListener('pointerleave', hideTip);
  canvas.addEventListener('keydown', heatKey);
}
