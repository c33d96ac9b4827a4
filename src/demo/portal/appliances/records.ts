import { hash32 } from '../../../runtime/random.ts';
import type { DemoResponse, Scene } from '../../exchange.ts';
import { invalid, json, portalError } from '../../exchange.ts';
import { seededRandom } from '../../seeded-random.ts';
import type { Variations } from '../../variations.ts';
import { draw, floorTo, MINUTE_MS } from '../../world/waveforms.ts';
import type { DemoAppliance } from '../../world/world.ts';
import { hasMemoryDetails } from '../../world/world.ts';
import type { Field, Series } from './series.ts';
import { applianceSeries, loadFields } from './series.ts';
import { telemetryRequest } from './telemetry-request.ts';

/** The minutes of one record; `time` is the beginning of the record. */
interface Bin {
  readonly time: number;
  readonly minutes: readonly number[];
}

/** Appliances report every five minutes, each at its own offset. */
const REPORT_MS = 5 * MINUTE_MS;

/** The number of bins in a period if the request has no bin size. */
const BINS_UNASKED = 360;

/** The newest minute that an appliance has reported. */
export function newestMinute(appliance: DemoAppliance, now: number): number {
  const phase = draw(appliance.serial, 'report') * REPORT_MS;
  return floorTo(floorTo(now - phase, REPORT_MS) + phase, MINUTE_MS);
}

/** `POST /telemetry/appliances/{serial}/{segment}` for the 20 series. */
export function series(scene: Scene, appliance: DemoAppliance, segment: string): DemoResponse {
  const found = applianceSeries.get(segment);
  if (found === undefined) return portalError(404, 'Unknown telemetry');
  const request = telemetryRequest(scene, 'series');
  if ('status' in request) return request;
  const { variations, now } = scene;
  const hasMemory = found.memoryDetails === undefined || found.memoryDetails === hasMemoryDetails(appliance);
  const hasDisk = found.disk === undefined || appliance.disks.has(found.disk);
  if (!hasMemory && variations.memoryMismatch !== 'empty') return misfit(variations.memoryMismatch);

  const { startMs, endMs } = request.period;
  if (endMs - startMs > variations.longestPeriodMs) {
    return invalid({ type: 'value_error', loc: ['body', 'period'], msg: 'The period is too long', input: null });
  }
  const askedSeconds = variations.binSize === 'honoured' ? request.binSeconds : 60;
  const binMs = 1000 * (askedSeconds ?? 60 * Math.ceil((endMs - startMs) / MINUTE_MS / BINS_UNASKED));
  const bins =
    hasMemory && hasDisk ? binsOf(appliance, startMs, Math.min(endMs, newestMinute(appliance, now)), binMs) : [];
  const { fields } = segment === 'load_average' ? { fields: loadFields(variations.loadNames) } : found;
  const items = bins.map((bin, place) => {
    const isNewest = place === bins.length - 1;
    const nulls = isNewest && variations.newestNull ? 1 : variations.nulls;
    return record(fields, appliance, segment, bin, { ...variations, nulls });
  });
  return json(200, {
    ...(variations.omitOptional ? {} : { metadata: {} }),
    items: variations.shuffled ? shuffled(items, `${appliance.serial}/${segment}`) : items,
    ...(segment === 'load_average' ? { num_cores: variations.nulls === 1 ? null : appliance.cores } : {}),
  });
}

function misfit(status: '404' | '422'): DemoResponse {
  const msg = 'Not supported by the build of this appliance';
  if (status === '404') return portalError(404, msg);
  return invalid({ type: 'value_error', loc: ['path', 'serial_number'], msg, input: null });
}

/** A decimal in the format of the service: with at most `places` places, without an exponent. */
export function written(value: number, decimals: Variations['decimals'], places = 2): string | number {
  const rounded = Math.round(value * 10 ** places) / 10 ** places;
  return decimals === 'string' ? String(rounded) : rounded;
}

/** The minutes from `from` to `to`, grouped by bin. */
function binsOf(appliance: DemoAppliance, from: number, to: number, binMs: number): readonly Bin[] {
  const bins = new Map<number, number[]>();
  const first = Math.ceil(Math.max(from, appliance.joinedAt) / MINUTE_MS) * MINUTE_MS;
  for (let minute = first; minute <= to; minute += MINUTE_MS) {
    const time = floorTo(minute, binMs);
    const minutes = bins.get(time);
    if (minutes === undefined) bins.set(time, [minute]);
    else minutes.push(minute);
  }
  return [...bins].map(([time, minutes]) => ({ time, minutes }));
}

function record(
  fields: Series['fields'],
  appliance: DemoAppliance,
  segment: string,
  { time, minutes }: Bin,
  variations: Variations,
): Readonly<Record<string, unknown>> {
  const entries = [...fields].flatMap(([field, rule]): (readonly [string, unknown])[] => {
    const isNull = rule.nullable && isDrawn(variations.nulls, appliance.serial, segment, field, time);
    if (isNull) return variations.omitOptional ? [] : [[field, null]];
    return [[field, fieldValue(rule, appliance, minutes, variations)]];
  });
  return Object.fromEntries([['time', timeOf(time, variations)], ...entries]);
}

/** Returns true for this share of all records, and always for the same ones. */
function isDrawn(share: number, ...parts: readonly (string | number)[]): boolean {
  return share > 0 && draw(...parts, 'null') < share;
}

function fieldValue(rule: Field, appliance: DemoAppliance, minutes: readonly number[], variations: Variations) {
  const sum = minutes.reduce((total, minute) => total + rule.value(appliance, minute), 0);
  if (rule.form === 'count') return Math.round(variations.counts === 'bin' ? sum : sum / (60 * minutes.length));
  const mean = sum / minutes.length;
  return rule.form === 'rate' ? Math.round(mean) : measured(mean, rule.measure, variations);
}

/** A decimal in the unit that this account uses. */
export function measured(value: number, measure: Field['measure'], variations: Variations): string | number {
  const { decimals } = variations;
  if (measure === 'share' && variations.ratioUnit === 'ratio') return written(value / 100, decimals, 4);
  if (measure === 'memory' && variations.memoryUnit === 'bytes') return written(value * 1024, decimals);
  if (measure === 'latency' && variations.latencyUnit === 'seconds') return written(value / 1000, decimals, 6);
  return written(value, decimals);
}

/** A record's time in the unit that this account uses. */
export function timeOf(time: number, { timeUnit }: Variations): number {
  return timeUnit === 'seconds' ? time / 1000 : time;
}

/** The items in an order that does not depend on time, and is the same for each request. */
function shuffled<Item>(items: readonly Item[], name: string): readonly Item[] {
  const random = seededRandom(hash32(name));
  return items
    .map((item) => ({ item, place: random() }))
    .sort((one, other) => one.place - other.place)
    .map(({ item }) => item);
}
