// SPDX-License-Identifier: BSD-2-Clause
// The flame graph: a tree of frames, and those of them that can be seen.

const ROW = 18, FRAME_MIN = .4, FRAME_FONT = '11px ';
const flame = { root: null, zoom: null, frames: [], at: null, path: [],
  hits: null, valid: false };

function newFrame(up, kind, name, func) {
  const f = { up: up, kids: [], kind: kind, name: name, func: func,
    depth: up ? up.depth + 1 : 0, self: 0, total: 0, x: 0, hit: false };

  if (up)
    up.kids.push(f);
  flame.frames.push(f);
  return f;
}

function funcFrame(up, func) {
  const f = data.funcs[func];

  return newFrame(up, f.kind, f.name, func);
}

// The frames of one command, from its own samples by node.
function addCommand(root, name, own) {
  const made = new Map([[0, newFrame(root, KIND_COMM, name, -1)]]);
  const path = [];

  own.forEach(function (count, node) {
    let f;

    for (let n = node; !(f = made.get(n)); n = data.nodes.parent[n])
      path.push(n);
    while (path.length) {
      const n = path.pop();

      f = funcFrame(f, data.nodes.func[n]);
      made.set(n, f);
    }
    f.self += count;
  });
}

// From the functions that samples were taken in to their callers.
function addCallers(root) {
  const made = new Map(), nodes = data.nodes, width = data.funcs.length;

  root.index = 0;
  for (let n = 0; n < nodes.n; n++) {
    const count = chosen.self[n];
    let f = root;

    if (!count)
      continue;
    for (let at = n; at; at = nodes.parent[at]) {
      const key = f.index * width + nodes.func[at];
      let next = made.get(key);

      if (!next) {
        next = funcFrame(f, nodes.func[at]);
        next.index = flame.frames.length - 1;
        made.set(key, next);
      }
      f = next;
    }
    f.self += count;
  }
}

// The heaviest first, so that what matters is together on the left.
function byWeight(a, b) {
  return b.total - a.total || (a.func >= 0 && b.func >= 0 ?
    data.funcs[a.func].rank - data.funcs[b.func].rank :
    a.name < b.name ? -1 : 1);
}

function buildFlame() {
  flame.frames = [];
  const root = flame.root = newFrame(null, KIND_ALL, 'all', -1);

  if (state.callers === '1')
    addCallers(root);
  else
    chosen.comms.forEach(function (own, comm) { addCommand(root, comm, own); });
  // children come after their parents
  for (let i = flame.frames.length; i--;) {
    const f = flame.frames[i];

    f.total += f.self;
    if (f.up)
      f.up.total += f.total;
  }
  flame.frames.forEach(function (f) {
    let x = f.x;

    f.kids.sort(byWeight);
    f.kids.forEach(function (k) { k.x = x; x += k.total; });
  });
  rezoom();
  flame.valid = true;
  searchFlame();
}

// The frame that was zoomed into, if it is still there.
function rezoom() {
  let f = flame.root;

  for (let i = 0; i < flame.path.length; i++) {
    const next = f.kids.find(function (k) {
      return k.name === flame.path[i];
    });

    if (!next)
      break;
    f = next;
  }
  flame.zoom = f;
  flame.at = null;
}

function zoomTo(f) {
  flame.zoom = f;
  flame.path = [];
  for (let p = f; p.up; p = p.up)
    flame.path.unshift(p.name);
  drawFlame();
  tellFound();
}

// Marks what the search finds.
function searchFlame() {
  const re = pattern(state.search);
  const hits = re && data.funcs.map(function (f) { return re.test(f.name); });

  flame.frames.forEach(function (f) {
    f.hit = !!re && f.depth > 0 &&
      (f.func >= 0 ? hits[f.func] : re.test(f.name));
  });
}

// Samples below any hit, and how many hits, in what is zoomed to.
function foundFlame() {
  const stack = [[flame.zoom, false]];
  let samples = 0, frames = 0;

  while (stack.length) {
    const top = stack.pop(), f = top[0];

    if (f.hit) {
      frames++;
      samples += top[1] ? 0 : f.total;
    }
    f.kids.forEach(function (k) { stack.push([k, top[1] || f.hit]); });
  }
  return { samples: samples, frames: frames, of: flame.zoom.total };
}

// As much of a name as there is room for.
function fitted(c, name, room) {
  let low = 0, high = name.length;

  if (c.measureText(name).width <= room)
    return name;
  while (low < high) {
    const mid = (low + high + 1) >> 1;

    if (c.measureText(name.slice(0, mid) + '…').width <= room)
      low = mid;
    else
      high = mid - 1;
  }
  return low > 1 ? name.slice(0, low) + '…' : '';
}

// Calls with each frame that can be seen: frame, x, width, is it above.
function visibleFrames(width, each) {
  const zoom = flame.zoom, scale = width / (zoom.total || 1);
  const stack = [zoom];

  for (let f = zoom.up; f; f = f.up)
    each(f, 0, width, true);
  while (stack.length) {
    const f = stack.pop(), w = f.total * scale;

    if (w < FRAME_MIN)
      continue;
    each(f, (f.x - zoom.x) * scale, w, false);
    for (let i = f.kids.length; i--;)
      stack.push(f.kids[i]);
  }
}

function drawFrame(c, f, x, y, w, above) {
  const dimmed = state.search && !f.hit;

  c.globalAlpha = above ? .55 : dimmed ? .4 : 1;
  c.fillStyle = f.hit ? '#d633c8' : colour(f.kind, f.name);
  c.fillRect(x, y, Math.max(w > 3 ? w - 1 : w, .5), ROW - 1);
  if (f === flame.at) {
    c.globalAlpha = 1;
    c.strokeStyle = css_.fg;
    c.lineWidth = 2;
    c.strokeRect(x + 1, y + 1, Math.max(w - 3, 1), ROW - 3);
  }
  if (w < 22)
    return;
  c.globalAlpha = above ? .8 : 1;
  c.fillStyle = f.hit ? '#fff' : isDark() && dimmed ? css_.fg : '#16191d';
  c.fillText(fitted(c, f.name, w - 8), x + 4, y + ROW / 2);
}

function drawFlame() {
  const canvas = id('frames'), width = canvas.clientWidth;
  let deep = 0;

  if (!flame.valid)
    buildFlame();
  if (!width)
    return;
  visibleFrames(width, function (f) { deep = Math.max(deep, f.depth); });
  flame.rows = deep + 1;
  const c = prepare(canvas, width, flame.rows * ROW);

  c.font = FRAME_FONT + css_.mono;
  c.textBaseline = 'middle';
  visibleFrames(width, function (f, x, w, above) {
    drawFrame(c, f, x, rowOf(f) * ROW, w, above);
  });
  id('unzoom').hidden = flame.zoom === flame.root;
}

function rowOf(f) {
  return state.up === '1' ? flame.rows - 1 - f.depth : f.depth;
}

function frameAt(e) {
  const box = id('frames').getBoundingClientRect();
  const x = e.clientX - box.left;
  const row = Math.floor((e.clientY - box.top) / ROW);
  let found = null;

  visibleFrames(box.width, function (f, left, w) {
    if (rowOf(f) === row && x >= left && x < left + Math.max(w, 1))
      found = f;
  });
  return found;
}

function frameLines(f) {
  const lines = [f.name], func = f.func >= 0 ? data.funcs[f.func] : null;

  if (func && func.object)
    lines.push(func.object);
  else if (f.kind === KIND_COMM)
    lines.push('command');
  lines.push(counted(f.total) + ', ' + share(f.total, chosen.total) +
    (f.self && f.self !== f.total ? ', ' + number(f.self) +
      (state.callers === '1' ? ' without a caller' : ' itself') : ''));
  if (flame.zoom !== flame.root && f.depth > flame.zoom.depth)
    lines.push(share(f.total, flame.zoom.total) + ' of ' + flame.zoom.name);
  if (f.func === data.funcs.length - 1)
    lines.push('paths of ' + share(isWhole() ? data.limit :
      data.partLimit, 1) + ' or less each');
  return lines;
}

function tellFrame(f) {
  id('told').textContent = f ? frameLines(f).join(' – ') :
    'Click or Enter zooms in, arrow keys move, / searches, c turns to ' +
    'callers, Escape goes back.';
}

// The next frame in the direction of an arrow key.
function frameBeside(f, key) {
  const down = state.up === '1' ? 'ArrowUp' : 'ArrowDown';
  const kids = f.up ? f.up.kids : [f];

  if (key === 'ArrowLeft')
    return kids[kids.indexOf(f) - 1];
  if (key === 'ArrowRight')
    return kids[kids.indexOf(f) + 1];
  if (key !== down)
    return f.up;
  return f.kids.reduce(function (a, b) {
    return a && a.total >= b.total ? a : b;
  }, null);
}

function flameKey(e) {
  if (e.key === 'Enter' && flame.at) {
    zoomTo(flame.at);
  } else if (/^Arrow/.test(e.key)) {
    flame.at = flame.at ? frameBeside(flame.at, e.key) || flame.at :
      flame.zoom;
    drawFlame();
    tellFrame(flame.at);
  } else {
    return;
  }
  e.preventDefault();
}

function drawKinds() {
  put.apply(null, [id('keys')].concat(HUES.filter(function (h) {
    return h.what;
  }).map(function (h) {
    const item = element('span'), box = element('i');

    box.style.background = plainColour(HUES.indexOf(h));
    item.append(box, h.what);
    return item;
  })));
}

// What is drawn, for the console.
function listFrames() {
  const box = id('frames').getBoundingClientRect(), list = [];

  visibleFrames(box.width, function (f, x, w, above) {
    list.push({ name: f.name, samples: f.total, self: f.self, depth: f.depth,
      x: x, y: rowOf(f) * ROW, width: w, above: above, found: f.hit });
  });
  return list;
}

function startFlame() {
  const canvas = id('frames');

  drawKinds();
  canvas.addEventListener('click', function (e) {
    const f = frameAt(e);

    if (f)
      zoomTo(f);
  });
  canvas.addEventListener('pointermove', function (e) {
    const f = frameAt(e);

    if (f !== flame.at) {
      flame.at = f;
      drawFlame();
    }
    tellFrame(f);
    if (f)
      showTip(e.clientX, e.clientY, frameLines(f));
    else
      hideTip();
  });
  canvas.addEventListener('pointerleave', function () {
    flame.at = null;
    hideTip();
    tellFrame(null);
    drawFlame();
  });
  canvas.addEventListener('keydown', flameKey);
  id('unzoom').addEventListener('click', function () { zoomTo(flame.root); });
  tellFrame(null);
}
