import type { Front } from '../support/front.ts';
import type { Scrape, Wanted } from '../support/scrape.ts';
import { type Course, linesSince } from './course.ts';
import { APPLIANCES, type Instance } from './instance.ts';
import { apiOf, isOf, labelOf } from './row.ts';
import { dataStamp, listStamp, SERIES, seriesStamp } from './stamps.ts';

/** What is missing for an instance to be well; undefined when it is. */
export function illness(now: Scrape): string | undefined {
  const whole = {
    filer_api_up: 2,
    filer_appliance_up: APPLIANCES,
    filer_exporter_tasks_resting: 0,
  };
  for (const [name, sum] of Object.entries(whole)) {
    if (now.sum(name) !== sum) return `${name} is ${now.sum(name)} in all and not ${sum}`;
  }
  const values = now.all('filer_appliance_cpu_utilization_ratio').length;
  const windows = now.all('filer_appliance_load_average').length;
  return values === APPLIANCES && windows === 3 * APPLIANCES ? undefined : 'an appliance lacks a series';
}

/** What is not newer than a stamp; undefined when everything is: each series, the lists of the inventory, and `/data`. */
export function stale(now: Scrape, { standIn }: Instance, stamp: number): string | undefined {
  const isNewer = (shown: number | undefined) => shown !== undefined && shown > stamp;
  for (const { serial } of standIn.fleet.appliances) {
    for (const series of SERIES) if (!isNewer(seriesStamp(now, serial, series))) return `${series} of ${serial} is old`;
  }
  for (const list of ['serials', 'edges'] as const) if (!isNewer(listStamp(now, list))) return `${list} are old`;
  return isNewer(dataStamp(now)) ? undefined : 'data is old';
}

/** A moment of a row: that a request was met with the fault, or that the fault was lifted. */
export interface Moment {
  /** By `performance.now()`. */
  readonly at: number;
  /** All answers behind it have a later stamp. */
  readonly stamp: number;
}

/** What of a fault does not show yet; undefined when all of it does, as its row expects. */
export async function unshown(course: Course, hits: readonly Moment[]): Promise<string | undefined> {
  const { row, instance, before } = course;
  const { operation, expected } = row;
  // Looked at first: a scrape that is read strictly is work, and so many at once would be felt.
  const wanted = answersWanted(course);
  const hit = hits[wanted - 1];
  if (hit === undefined) return `${hits.length} requests were met with it and not ${wanted}`;
  const { lines, speakers = 1, code, resting } = expected;
  const said = lines === undefined ? speakers : linesSince(course).filter(({ msg }) => msg === lines[0]).length;
  if (said < speakers) return `“${lines?.[0]}” was said ${said} times`;
  const now = await instance.scrape();
  const api = apiOf(operation);
  const grew = (name: string, labels: Wanted) => now.sum(name, labels) > before.sum(name, labels);
  if (!grew('filer_exporter_requests_total', { api, operation: labelOf(operation), code })) return `no ${code}`;
  if (resting !== undefined && now.sum('filer_exporter_tasks_resting', { api, reason: resting }) === 0) {
    return `nothing rests as ${resting}`;
  }
  return expected.isUsed ? unused(course, hit, now) : undefined;
}

/** What is missing for a fault to be over; undefined when it is: told in the log, and everything newer than its end. */
export async function lasting(course: Course, lifted: Moment): Promise<string | undefined> {
  const { row, instance } = course;
  const { lines, speakers = 1, mayAlsoSay = [] } = row.expected;
  const said = linesSince(course).map(({ msg }) => msg);
  const count = (line: string) => said.filter((one) => one === line).length;
  if (lines !== undefined && count(lines[1]) < speakers) return `“${lines[1]}” was said ${count(lines[1])} times`;
  // What else was said is taken back too.
  for (const [bad, good] of mayAlsoSay) {
    if (count(bad) !== count(good)) return `“${bad}” was said ${count(bad)} times, and “${good}” ${count(good)} times`;
  }
  // Looked at first as well: nothing newer can be shown before it was asked for.
  const unasked = notAskedSince(course, lifted.at);
  if (unasked !== undefined) return `${unasked} has not been asked for`;
  const now = await instance.scrape();
  return illness(now) ?? stale(now, instance, lifted.stamp);
}

/** What has not been asked for since a moment; undefined when everything has. */
function notAskedSince({ instance: { gfa, portal, standIn } }: Course, since: number): string | undefined {
  const isIn = ({ seen }: Front, operation: string, of?: string) =>
    seen.some((one) => one.at > since && one.operation === operation && (of === undefined || one.serial === of));
  for (const { serial } of standIn.fleet.appliances) {
    for (const series of SERIES) if (!isIn(portal, series, serial)) return `${series} of ${serial}`;
  }
  for (const list of ['serials', 'edges']) if (!isIn(portal, list)) return list;
  return isIn(gfa, 'data') ? undefined : 'data';
}

/** An answer that is used once may be so by chance: a connection that it spoils is noticed by the next. */
function answersWanted({ row: { operation, expected } }: Course): number {
  return expected.isUsed && operation !== 'token' ? 2 : 1;
}

/** Why what a spoiled answer says is not in use; undefined when it is. All answers of the kind are spoiled meanwhile. */
function unused(course: Course, hit: Moment, now: Scrape): string | undefined {
  const { row, serial } = course;
  const { operation } = row;
  if (operation === 'token') {
    return isBorne(course) ? undefined : 'no request bears the token';
  }
  const shown =
    operation === 'series'
      ? seriesStamp(now, serial, SERIES[0])
      : operation === 'data'
        ? dataStamp(now)
        : listStamp(now, operation);
  return shown !== undefined && shown > hit.stamp ? undefined : `the answer of ${shown} is shown, from before`;
}

/** Whether a request bore the token that the operation gave last. */
function isBorne({ row, front, serial, instance }: Course): boolean {
  const token = instance.stamps.issuedBy(row.operation);
  return token !== undefined && front.seen.some((one) => one.bearer === token && !isOf(one, row, serial));
}
