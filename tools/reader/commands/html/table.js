// SPDX-License-Identifier: BSD-2-Clause
// Tables that are sorted by a click on a column.

const ROWS_MAX = 300;
const more = { functions: false, processes: false };

// @sort: "-key" falls, "key" rises.
function sorted(rows, columns, sort) {
  const key = sort.replace(/^-/, ''), sign = sort[0] === '-' ? -1 : 1;
  const column = columns.find(function (c) { return c.key === key; }) ||
    columns[0];

  return rows.slice().sort(function (a, b) {
    const x = column.value(a), y = column.value(b);

    return x < y ? -sign : x > y ? sign : a.order - b.order;
  });
}

function headRow(columns, sort, onSort) {
  const row = element('tr');

  columns.forEach(function (c) {
    const th = element('th', null, c.num ? 'num' : '');
    const head = countsEvents() && c.events || c.head;

    if (c.key) {
      const button = element('button', head);
      const down = sort === '-' + c.key;

      button.type = 'button';
      button.addEventListener('click', function () {
        onSort(down || (sort !== c.key && !c.num) ? c.key : '-' + c.key);
      });
      th.append(button);
      th.setAttribute('aria-sort', down ? 'descending' :
        sort === c.key ? 'ascending' : 'none');
    } else {
      th.textContent = head;
    }
    th.scope = 'col';
    row.append(th);
  });
  return row;
}

// A share of the whole, on a bar that is full for the largest share.
function shareCell(part, whole, largest) {
  const td = element('td', null, 'num share'), bar = element('i');

  bar.style.width = 'calc((100% - 8px) * ' +
    (largest ? part / largest : 0).toFixed(4) + ')';
  td.append(bar, element('span', share(part, whole)));
  return td;
}

// @t: table, columns, rows, sort, onSort, onRow, what
function drawTable(t) {
  const head = element('thead'), body = element('tbody');
  const rows = sorted(t.rows, t.columns, t.sort);
  const shown = more[t.what] ? rows : rows.slice(0, ROWS_MAX);

  head.append(headRow(t.columns, t.sort, t.onSort));
  shown.forEach(function (r) {
    const tr = element('tr');

    t.columns.forEach(function (c) { tr.append(c.cell(r)); });
    if (t.onRow)
      t.onRow(tr, r);
    body.append(tr);
  });
  if (shown.length < rows.length)
    body.append(moreRow(t, rows.length - shown.length));
  put(t.table, head, body);
}

function moreRow(t, n) {
  const tr = element('tr'), td = element('td', null, 'more');
  const button = element('button', number(n) + ' more rows: show all');

  button.type = 'button';
  button.addEventListener('click', function (e) {
    e.stopPropagation();
    more[t.what] = true;
    drawTable(t);
  });
  td.colSpan = t.columns.length;
  td.append(button);
  tr.append(td);
  return tr;
}

function numCell(n) { return element('td', number(n), 'num'); }
