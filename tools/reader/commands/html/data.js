// SPDX-License-Identifier: BSD-2-Clause
// What is in the data block (html_data.c), as the views want it.

// Runs of cells: of one slice and one series each.
function unpack(list) {
  const runs = { n: 0, slice: [], series: [], from: [0], node: [], count: [] };
  let slice = 0;

  for (let i = 0; i < list.length;) {
    let left = list[i + 2], node = 0;

    slice += list[i];
    runs.slice.push(slice);
    runs.series.push(list[i + 1]);
    for (i += 3; left--; i += 2) {
      node += list[i];
      runs.node.push(node);
      runs.count.push(list[i + 1]);
    }
    runs.from.push(runs.node.length);
    runs.n++;
  }
  runs.node = Int32Array.from(runs.node);
  runs.count = Float64Array.from(runs.count);
  runs.sum = new Float64Array(runs.n);
  for (let r = 0; r < runs.n; r++)
    for (let i = runs.from[r]; i < runs.from[r + 1]; i++)
      runs.sum[r] += runs.count[i];
  return runs;
}

function unpackFuncs(raw) {
  const n = raw.funcs.length / 3, funcs = [];

  for (let i = 0; i < n; i++)
    funcs.push({ id: i, name: raw.names[raw.funcs[3 * i]],
      object: raw.objects[raw.funcs[3 * i + 1]], kind: raw.funcs[3 * i + 2] });
  // what is left out looks like a function; it has the number after the last
  funcs.push({ id: n, name: '[too small to keep]', object: '',
    kind: KIND_NAMELESS });
  funcs.slice().sort(function (a, b) {
    return a.name < b.name ? -1 : a.name > b.name ? 1 : a.id - b.id;
  }).forEach(function (f, rank) { f.rank = rank; });
  return funcs;
}

// Parents come before their children.  @first: its function is not in what is
// above it, so that recursion counts once.
function unpackNodes(raw, rest) {
  const n = raw.nodes.length / 2 + 1;
  const nodes = { n: n, parent: new Int32Array(n), func: new Int32Array(n),
    first: new Uint8Array(n) };

  nodes.func[0] = -1;
  for (let i = 1; i < n; i++) {
    const func = raw.nodes[2 * i - 1];
    let up = i - raw.nodes[2 * i - 2];

    nodes.parent[i] = up;
    nodes.func[i] = func < 0 ? rest : func;
    while (up && nodes.func[up] !== nodes.func[i])
      up = nodes.parent[up];
    nodes.first[i] = up ? 0 : 1;
  }
  return nodes;
}

function unpackSeries(raw) {
  const all = [];

  for (let i = 0; i < raw.series.length; i += 6) {
    const comm = raw.series[i + 1];

    all.push({ event: raw.series[i], comm: comm,
      name: comm < 0 ? '[others]' : raw.comms[comm],
      pid: raw.series[i + 2], tid: raw.series[i + 3],
      first: raw.series[i + 4], last: raw.series[i + 5] });
  }
  return all;
}

function readData() {
  const raw = JSON.parse(document.getElementById('data').textContent);
  const funcs = unpackFuncs(raw);

  return {
    log: raw.log, loss: raw.loss, events: raw.events,
    eventsLeftOut: raw.eventsLeftOut, nameless: raw.nameless,
    // paths too small to keep: of all, and where a part is chosen
    leftOut: raw.leftOut, limit: raw.limit,
    partLeftOut: raw.partLeftOut, partLimit: raw.partLimit, funcs: funcs,
    // event, function, count: of all samples
    self: raw.self, total: raw.total,
    nodes: unpackNodes(raw, funcs.length - 1), series: unpackSeries(raw),
    // slices of time: of the heat map, and of all else, which are a multiple
    heatSlice: raw.heatSlice, slice: raw.cellSlice,
    heat: unpack(raw.heat), cells: unpack(raw.cells),
    // not by time, of a command's first series
    whole: unpack(raw.whole),
  };
}
