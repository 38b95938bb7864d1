// SPDX-License-Identifier: BSD-2-Clause
// The flat profile.

function functionRow(f) {
  return { func: f, self: 0, total: 0, order: f.rank };
}

// Of all samples every function's numbers are known, those of small ones
// added up.
function allFunctions() {
  const rows = data.funcs.map(functionRow), rest = rows[rows.length - 1];

  rest.self = chosen.total;
  ['self', 'total'].forEach(function (k) {
    for (let i = 0; i < data[k].length; i += 3)
      if (data[k][i] === state.event)
        rows[data[k][i + 1]][k] += data[k][i + 2];
  });
  for (let i = 0; i < rows.length - 1; i++)
    rest.self -= rows[i].self;
  rest.total = rest.self;
  return rows;
}

function someFunctions() {
  const nodes = data.nodes, total = Float64Array.from(chosen.self);
  const rows = data.funcs.map(functionRow);

  for (let n = nodes.n; --n > 0;) {
    const row = rows[nodes.func[n]];

    total[nodes.parent[n]] += total[n];
    row.self += chosen.self[n];
    if (nodes.first[n])
      row.total += total[n];
  }
  return rows;
}

function countFunctions() {
  return (isWhole() ? allFunctions() : someFunctions())
    .filter(function (r) { return r.total; });
}

function nameCell(f) {
  const td = element('td', null, 'name'), button = element('button', f.name);

  button.type = 'button';
  button.title = 'Show in the flame graph';
  button.addEventListener('click', function () {
    change({ view: 'flame', search: '^' + literal(f.name) + '$' });
  });
  td.append(button);
  return td;
}

const largest = { self: 0, total: 0 };

const FUNCTION_COLUMNS = [
  { key: 'self', head: 'Self', num: true,
    value: function (r) { return r.self; },
    cell: function (r) { return numCell(r.self); } },
  { head: 'Self %', num: true,
    cell: function (r) {
      return shareCell(r.self, chosen.total, largest.self);
    } },
  { key: 'total', head: 'Total', num: true,
    value: function (r) { return r.total; },
    cell: function (r) { return numCell(r.total); } },
  { head: 'Total %', num: true,
    cell: function (r) {
      return shareCell(r.total, chosen.total, largest.total);
    } },
  { key: 'name', head: 'Function',
    value: function (r) { return r.func.rank; },
    cell: function (r) { return nameCell(r.func); } },
  { key: 'object', head: 'Object',
    value: function (r) { return r.func.object; },
    cell: function (r) { return element('td', r.func.object); } },
];

function functionRows() {
  const re = pattern(state.search);

  return countFunctions().filter(function (r) {
    return !re || re.test(r.func.name) || re.test(r.func.object);
  });
}

function drawFunctions() {
  const rows = functionRows();

  ['self', 'total'].forEach(function (k) {
    largest[k] = rows.reduce(function (a, r) { return Math.max(a, r[k]); }, 0);
  });
  id('fnote').textContent = several(rows.length, 'function') +
    (state.search ? ' found' : '') + ', of ' + counted(chosen.total) +
    '. Self: taken in it. Total: in it or in what it called.';
  drawTable({ table: id('ftable'), columns: FUNCTION_COLUMNS, rows: rows,
    sort: state.fsort, what: 'functions',
    onSort: function (s) { change({ fsort: s }); },
    onRow: function (tr, r) {
      tr.className = 'dot';
      tr.style.setProperty('--dot', plainColour(r.func.kind));
    } });
}

// The samples taken in what was found.
function foundFunctions() {
  const rows = functionRows();

  return { samples: rows.reduce(function (a, r) { return a + r.self; }, 0),
    frames: rows.length, of: chosen.total };
}
