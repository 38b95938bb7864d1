// SPDX-License-Identifier: BSD-2-Clause
// Numbers as people read them, elements, and colours.

const KIND_USER = 0, KIND_KERNEL = 1, KIND_MODULE = 2, KIND_NAMELESS = 3;
const KIND_COMM = 4, KIND_ALL = 5;

function id(s) { return document.getElementById(s); }

// An element with text in it.  No string of a log goes another way.
function element(tag, text, className) {
  const e = document.createElement(tag);

  if (text !== undefined && text !== null)
    e.textContent = text;
  if (className)
    e.className = className;
  return e;
}

function put(parent) {
  parent.replaceChildren.apply(parent, Array.prototype.slice.call(arguments,
    1));
  return parent;
}

function number(n) {
  return String(n).replace(/\B(?=(\d{3})+$)/g, ',');
}

function several(n, one, many) {
  return number(n) + ' ' + (n === 1 ? one : many || one + 's');
}

function percent(part, whole) { return whole ? 100 * part / whole : 0; }

function share(part, whole) { return percent(part, whole).toFixed(2) + ' %'; }

// So many digits that @step can be told apart.
function seconds(t, step) {
  const digits = step >= 1 ? 0 : Math.min(6, Math.ceil(-Math.log10(step)));
  const s = Math.abs(t) < 600 || digits > 3 ? t.toFixed(digits) + ' s' : null;

  if (s)
    return s;
  const m = Math.floor(t / 60), rest = (t - 60 * m).toFixed(digits);

  return (m >= 60 ? Math.floor(m / 60) + ':' +
    String(m % 60).padStart(2, '0') : m) + ':' +
    rest.padStart(digits ? digits + 3 : 2, '0');
}

function duration(t) {
  const units = [[1, ' s'], [1e-3, ' ms'], [1e-6, ' µs']];
  const u = units.find(function (x) { return t >= x[0]; }) || units[2];

  return String(+(t / u[0]).toPrecision(3)) + u[1];
}

// A search: a regular expression, or if it is none the text itself.
function pattern(s) {
  if (!s)
    return null;
  try {
    return new RegExp(s, 'i');
  } catch (e) {
    return new RegExp(literal(s), 'i');
  }
}

function literal(s) { return s.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'); }

function css(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name)
    .trim();
}

function isDark() {
  return window.matchMedia('(prefers-color-scheme: dark)').matches;
}

// As hues[] of ../flame/flame.c has them: hue, saturation, lightness, how far each varies.
const HUES = [];
HUES[KIND_USER] = { what: 'user', v: [22, 26, 92, 6, 66, 9] };
HUES[KIND_KERNEL] = { what: 'kernel', v: [200, 18, 68, 12, 68, 8] };
HUES[KIND_MODULE] = { what: 'kernel module', v: [138, 22, 48, 10, 62, 8] };
HUES[KIND_NAMELESS] = { what: 'no name', v: [30, 10, 12, 4, 76, 6] };
HUES[KIND_COMM] = { what: 'command', v: [258, 14, 46, 8, 82, 4] };
HUES[KIND_ALL] = { what: null, v: [215, 1, 14, 1, 84, 1] };

// The same for a name in every graph.
function colour(kind, name) {
  const v = HUES[kind].v;
  let h = 7;

  for (let i = 0; i < name.length; i++)
    h = (Math.imul(h, 31) + name.charCodeAt(i)) >>> 0;
  h = Math.imul(h ^ (h >>> 15), 0x2c1b3c6d) >>> 0;
  return 'hsl(' + (v[0] + h % v[1]) + ',' + (v[2] + (h >>> 8) % v[3]) + '%,' +
    (v[4] + (h >>> 16) % v[5]) + '%)';
}

function plainColour(kind) {
  const v = HUES[kind].v;

  return 'hsl(' + (v[0] + v[1] / 2) + ',' + v[2] + '%,' + v[4] + '%)';
}

// A canvas of that many CSS pixels, sharp on any screen.
function prepare(canvas, width, height) {
  const scale = Math.min(window.devicePixelRatio || 1, 16000 / height);
  const c = canvas.getContext('2d');

  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  canvas.style.height = height + 'px';
  c.setTransform(scale, 0, 0, scale, 0, 0);
  c.clearRect(0, 0, width, height);
  return c;
}

function showTip(x, y, lines) {
  const tip = id('tip');

  put.apply(null, [tip].concat(lines.map(function (s, i) {
    const line = element('div', null, i ? 'soft' : '');

    line.append(i ? s : element('b', s));
    return line;
  })));
  tip.hidden = false;
  tip.style.left = Math.max(4, Math.min(x + 14,
    window.innerWidth - tip.offsetWidth - 8)) + 'px';
  tip.style.top = (y + 18 + tip.offsetHeight > window.innerHeight ?
    Math.max(4, y - 12 - tip.offsetHeight) : y + 18) + 'px';
}

function hideTip() { id('tip').hidden = true; }
