import { expect } from 'vitest';
import type { LogLine } from '../support/program.ts';
import type { Scrape } from '../support/scrape.ts';
import { type Course, GRACE_MS, linesSince } from './course.ts';
import { apiOf, isOf, labelOf } from './row.ts';
import { SERIES } from './stamps.ts';

/** The log says what the row expects, each change once, and gives no stack. */
export function expectLines(course: Course): void {
  const { lines, speakers = 1, says = '', mayAlsoSay = [] } = course.row.expected;
  const log = linesSince(course);
  const further = mayAlsoSay.flat();
  const told = log.filter(({ msg }) => !further.includes(msg));
  const expected = lines === undefined ? [] : lines.flatMap((line) => Array.from({ length: speakers }, () => line));
  expect(told.map(({ msg }) => msg).toSorted(), JSON.stringify(told)).toEqual(expected.toSorted());
  expectOneEach(log);
  const [reason] = log.filter(({ msg }) => msg === lines?.[0]);
  expect(JSON.stringify(reason?.err ?? ''), 'the reason given').toContain(says);
  expect(log.filter((line) => JSON.stringify(line).includes('"stack"'))).toEqual([]);
}

/** While it lasts the log says only that it began. */
export function expectOnlyTheBeginning(course: Course): void {
  const { lines, speakers = 1, mayAlsoSay = [] } = course.row.expected;
  const log = linesSince(course);
  const beginnings = mayAlsoSay.map(([bad]) => bad);
  const told = log.map(({ msg }) => msg).filter((msg) => !beginnings.some((bad) => bad === msg));
  expect(told).toEqual(lines === undefined ? [] : Array.from({ length: speakers }, () => lines[0]));
  expectOneEach(log);
}

/** Whoever has something to say says it once: so there are never more lines than tasks, appliances and lists. */
function expectOneEach(log: readonly LogLine[]): void {
  const said = log.map(({ msg, task, serial, list, operation }) =>
    [msg, task, serial, list, operation].filter((part) => part !== undefined).join(' | '),
  );
  expect(said.filter((line, index) => said.indexOf(line) !== index)).toEqual([]);
}

/** Nothing is counted but what the row expects, and of whom it does not touch nothing but answers. */
export function expectCodes({ row, before }: Course, now: Scrape): void {
  const { operation, scope, expected } = row;
  const name = 'filer_exporter_requests_total';
  const grown = now
    .all(name)
    .filter(({ labels, value }) => value > before.sum(name, labels))
    .map(({ labels: { api = '', operation: label = '', code = '' } }) => ({ api, label, code }));
  const touched = scope === 'an appliance' ? SERIES : [labelOf(operation)];
  const unexpected = grown.filter(({ api, label, code }) => {
    if (code === '200') return false;
    if (api !== apiOf(operation)) return true;
    if (expected.alsoCodes?.includes(code)) return false;
    if (touched.some((one) => one === label)) return code !== expected.code;
    return expected.neighbours === 'all';
  });
  expect(unexpected, 'counted and not expected').toEqual([]);
}

/**
 * Nobody whom the fault does not touch is left without a request for longer than two intervals: slots lie up to one and
 * a half apart. Hanging requests hang for several times as long, so that whoever is held up by one is seen here.
 */
export function expectPace(course: Course, until: number): void {
  const { row, setup, instance, lateness, serial, begunAt } = course;
  const asked = new Map<string, number[]>();
  const note = (key: string, at: number) => asked.set(key, [...(asked.get(key) ?? []), at]);
  const isNeighbour = (operation: string, of: string | undefined) => !isOf({ operation, serial: of }, row, serial);
  if (row.operation !== 'data') {
    note('data', begunAt);
    for (const { operation, at } of instance.gfa.seen) if (operation === 'data') note('data', at);
  }
  if (row.operation === 'data' || row.expected.neighbours === 'all') {
    for (const { serial: of } of instance.standIn.fleet.appliances) {
      for (const name of SERIES) if (isNeighbour(name, of)) note(`${name} of ${of}`, begunAt);
    }
    for (const { operation: name, serial: of, at } of instance.portal.seen) {
      if (of !== undefined && isNeighbour(name, of)) note(`${name} of ${of}`, at);
    }
  }
  for (const [name, moments] of asked) {
    const intervalMs = 1_000 * (name === 'data' ? 1 : setup.portalSeconds);
    const ordered = [...moments, until].toSorted((a, b) => a - b);
    for (const [index, at] of ordered.entries()) {
      const last = ordered[index - 1] ?? at;
      const mayMs = 2 * intervalMs + GRACE_MS + lateness.between(last, at);
      expect(at - last, `the time without ${name}`).toBeLessThan(mayMs);
    }
  }
}
