// SPDX-License-Identifier: BSD-2-Clause
// How good the recording is: always on top, and all of it in its own view.

function listCauses(causes) {
  return causes.map(function (c) {
    return number(c[1]) + ' ' + c[0];
  }).join(', ');
}

function fact(kind, name, figure, text) {
  const box = element('div', null, kind);

  box.append(element('dt', name), element('dd', figure, 'figure'),
    element('dd', text, 'more'));
  return box;
}

function sampleFact(e) {
  return fact('', 'Samples', number(e.samples), (e.perSecond ?
    'of ' + several(e.events, 'event') + ', ' +
    share(e.kernelEvents, e.events) : share(e.kernel, e.samples)) +
    ' in the kernel' + (e.guessed ? '; ' + number(e.guessed) +
      ' without a period in the log' : '') +
    (e.leftOut ? '; ' + number(e.leftOut) + ' more were not asked for' : ''));
}

// Rotated logs, and snapshots, have a part of what their PMCs have done.
function sinceText(e) {
  return e.rateIsMore ? '; since the PMC began: this log has a part of that' :
    '';
}

function rateFact(e) {
  const part = percent(e.achieved, e.asked);

  if (!e.asked)
    return fact('', 'Rate', e.achieved ? number(e.achieved) : 'not told',
      e.achieved ? 'achieved; what was asked for can’t be told' +
        sinceText(e) : 'by the log');
  return fact(part < 90 ? 'warn' : 'good', 'Rate achieved',
    part.toFixed(1) + ' %', number(e.achieved) + ' of ' + number(e.asked) +
    ' asked for' + (e.throttled ? '; throttled ' +
      several(e.throttled, 'time') : '') + sinceText(e));
}

function lost(e) {
  return e.lost.reduce(function (sum, c) { return sum + c[1]; }, 0);
}

function processRecordsText() {
  const l = data.loss;

  return several(l.processRecords, 'process record') +
    (l.processRecordsBy.length ? ' (' + listCauses(l.processRecordsBy) + ')' :
      '') + ': samples may be of other processes than it says, and names and ' +
    'mappings may be missing';
}

function lostFact(e) {
  const n = lost(e), all = n + e.samples + e.leftOut;
  const extra = data.loss.notWritten ? number(data.loss.notWritten) +
    ' not written at the end' : '';
  const procs = data.loss.processRecords ? processRecordsText() : '';

  return fact(percent(n, all) > 1 || procs ? 'bad' : n || extra ? 'warn' :
    'good', 'Lost', n ? share(n, all) : 'none',
  [n ? listCauses(e.lost) : 'no sample of this event', extra, procs]
    .filter(Boolean).join('; '));
}

function cutFact() {
  const l = data.loss;

  if (!l.committed)
    return fact('', 'Cut chains', 'not told', 'by the log');
  return fact(percent(l.cut, l.committed) > 5 ? 'warn' : 'good', 'Cut chains',
    l.cut ? percent(l.cut, l.committed).toFixed(1) + ' %' : 'none',
    l.cut ? number(l.cut) + ' end early' + (l.cutBy.length ? ': ' +
      listCauses(l.cutBy) : '') : 'the recorder has cut none');
}

// What there is to know of the event's own chains is better than of the log's.
function chainsFact(e) {
  const c = e.chains, told = c.samples - c.untold;
  const part = percent(c.whole, told);

  if (!told && !c.missing)
    return cutFact();
  return fact(c.missing || part < 95 ? 'warn' : 'good', 'User chains',
    told ? part.toFixed(1) + ' % whole' : 'not told',
    (c.cut ? percent(c.cut, told).toFixed(1) + ' % cut: ' + c.why + '; ' : '') +
    c.unwound);
}

function namelessFact(e) {
  const part = percent(e.nameless, e.samples);

  return fact(part > 20 ? 'warn' : 'good', 'Without name',
    part.toFixed(1) + ' %', 'of samples; ' +
    percent(e.namelessFrames, e.frames).toFixed(1) + ' % of frames');
}

function damageText() {
  const l = data.log;

  return [l.damage, l.noEnd, l.unknown].filter(Boolean).join('; ');
}

function logFact() {
  const l = data.log;

  return fact(l.damage ? 'bad' : damageText() ? 'warn' : 'good', 'Log',
    l.damage ? 'damaged' : !l.closed ? 'not closed' : l.unknown ?
      'of a newer recorder' : 'complete',
    [damageText() || several(l.records, 'record'),
      l.repeated].filter(Boolean).join('; '));
}

function when() {
  const t = new Date(data.log.start * 1000);

  return data.log.start && !isNaN(t) ?
    t.toISOString().replace('T', ' ').slice(0, 19) + ' UTC' : '';
}

function machine() {
  const l = data.log;

  return [l.host, l.release ? 'Linux ' + l.release : 'an unknown machine',
    l.cpus ? several(l.cpus, 'CPU') : '', l.cpu, when(),
    l.seconds.toFixed(3) + ' s'].filter(Boolean).join(' · ');
}

function eventText(e) {
  if (e.perSecond)
    return e.name + ', ' + (e.perSecondLeast < e.perSecond ?
      number(e.perSecondLeast) + ' to ' : '') +
      several(e.perSecond, 'sample') + ' a second' +
      (e.samples ? ', periods ' + number(e.least) + ' to ' + number(e.most) :
        '');
  return e.name + (e.every ? ', every ' + (e.clock ? duration(e.every / 1e9) :
    number(e.every)) : '');
}

function drawFacts() {
  const e = data.events[state.event];

  put(id('facts'), sampleFact(e), rateFact(e), lostFact(e),
    chainsFact(e), namelessFact(e), logFact());
}

function startRecording() {
  const l = data.log, name = l.title || (l.name || 'standard input')
    .replace(/.*\/(?=.)/, '');

  id('title').textContent = name;
  document.title = name + ' – profile';
  id('machine').textContent = machine();
  data.events.forEach(function (e, i) {
    const option = element('option', eventText(e));

    option.value = i;
    id('event').append(option);
  });
  id('event').hidden = data.events.length < 2;
  put(id('details'), logList(), element('h3', 'Events'),
    scrolled(eventTable()));
  if (data.eventsLeftOut)
    id('details').append(element('p', several(data.eventsLeftOut, 'event') +
      ' with the fewest samples: not in this page.'));
  chainsPart();
  namelessPart();
  id('details').append(element('h3', 'This page'), pageText());
}

function logList() {
  const l = data.log, loss = data.loss, list = element('dl');
  const rows = [['Log', l.name || 'standard input'],
    ['Machine', machine()], ['Records', number(l.records)],
    ['Damage', damageText() || 'none'],
    ['Kernel names', l.kernelNames ? l.kernelNames + (l.kernelUnchecked ?
      ', unchecked: the log does not tell where the kernel was' : '') :
      'none: ' + l.noKernelNames],
    ['Cut chains', loss.committed ? number(loss.cut) + ' of ' +
      number(loss.committed) + (loss.cutBy.length ? ': ' +
      listCauses(loss.cutBy) : '') : 'not told by the log'],
    ['Not written', several(loss.notWritten, 'sample') +
      ' when the log ended'],
    ['Process records lost', loss.processRecords ? processRecordsText() :
      'none']];

  if (l.wrongTimes)
    rows.push(['Repaired', several(l.wrongTimes, 'record') + ' with a ' +
      'damaged time: that of the record beside it is taken']);
  if (loss.filtered)
    rows.push(['Filtered', several(loss.filtered, 'sample') +
      ' left out: the recorder\'s own, or ' +
      'by filters, or while the recorder had switched all events off']);
  if (loss.late)
    rows.push(['Late chains', several(loss.late, 'sample') + ' of stacks ' +
      'that were not in memory, ' + number(loss.answered) + ' completed later']);
  rows.forEach(function (r) {
    list.append(element('dt', r[0]), element('dd', r[1]));
  });
  return list;
}

const NUMERIC = /^[0-9–][0-9.,]*( %)?$/;

function plainTable(heads, rows) {
  const table = element('table'), head = element('tr');

  heads.forEach(function (h, i) {
    head.append(element('th', h, rows[0] && i &&
      NUMERIC.test(rows[0][i]) ? 'num' : ''));
  });
  table.append(head);
  rows.forEach(function (r) {
    const tr = element('tr');

    r.forEach(function (v, i) {
      tr.append(element('td', v, i && NUMERIC.test(v) ? 'num' : ''));
    });
    table.append(tr);
  });
  return table;
}

function scrolled(table) {
  const box = element('div', null, 'scroll');

  box.append(table);
  return box;
}

function eventTable() {
  return plainTable(['Event', 'Samples', 'Not asked for', 'Rate asked',
    'Achieved', 'Throttled', 'On the counter', 'Lost', 'Why'],
  data.events.map(function (e) {
    return [eventText(e), number(e.samples), number(e.leftOut),
      e.asked ? number(e.asked) : '–', e.achieved ? number(e.achieved) : '–',
      number(e.throttled), e.enabled ? percent(e.running, e.enabled)
        .toFixed(1) + ' %' : '–', number(lost(e)), listCauses(e.lost)];
  }));
}

// Of the events that have any; and commands whose chains are worse.
function chainsPart() {
  const events = data.events.filter(function (e) { return e.chains.samples; });
  const rows = [];

  if (!events.length)
    return;
  id('details').append(element('h3', 'User chains'),
    scrolled(plainTable(['Event', 'How they end', 'Unwound'],
      events.map(function (e) {
        return [eventText(e), e.chains.text, e.chains.unwound];
      }))));
  events.forEach(function (e) {
    e.chains.commands.forEach(function (c) {
      const told = c[1] - c[2];

      rows.push([c[0], percent(c[3], told).toFixed(1) + ' %',
        percent(c[4], told).toFixed(1) + ' %', number(c[1]), c[5],
        eventText(e)]);
    });
  });
  if (rows.length)
    id('details').append(element('h3', 'User chains worse than the event’s'),
      scrolled(plainTable(['Command', 'Whole', 'By tables', 'Samples', 'Why',
        'Event'], rows)));
}

function namelessPart() {
  if (!data.nameless.length)
    return;
  id('details').append(element('h3', 'Samples without a name'),
    scrolled(plainTable(['Samples', 'File', 'Why'],
      data.nameless.map(function (n) {
        return [number(n[2]), n[0], n[1]];
      }))));
}

function smallText(n, limit) {
  return number(n) + ' with ' + (100 * limit).toPrecision(2) +
    ' % of their event or less';
}

function leftOutText() {
  return data.partLeftOut ? 'Of the call paths ' + (data.leftOut ?
    smallText(data.leftOut, data.limit) : 'none') + ' were too small to ' +
    'keep, and where a part of the time or some processes are chosen, ' +
    smallText(data.partLeftOut, data.partLimit) + ': they are shown as such ' +
    'below their callers. Then samples in them are missing from the numbers ' +
    'of their functions, which are complete where nothing is chosen.' :
    'No call path was left out.';
}

function pageText() {
  return element('p', 'It counts samples (of events that are sampled at a ' +
    'rate, the events) in slices of ' +
    duration(data.slice) + ' (the map of time: ' + duration(data.heatSlice) +
    '). ' + leftOutText() + (data.series.some(function (s) {
    return s.pid === -2;
  }) ? ' Of the processes with the fewest samples only the commands are ' +
    'told apart.' : ''));
}
