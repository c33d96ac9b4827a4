import type { Complaint, DemoResponse, Scene } from '../../exchange.ts';
import { invalid, isObject, parsedJson } from '../../exchange.ts';
import type { RequestedPeriod } from '../period.ts';
import { parsePeriod } from '../period.ts';

/** A valid telemetry request body. */
export interface TelemetryRequest {
  readonly period: RequestedPeriod;
  readonly binSeconds: number | undefined;
}

/** The shortest and the longest of an integer field, and whether it may be null. */
interface IntegerRule {
  readonly least: number;
  readonly most: number;
  readonly nullable: boolean;
}

type Rules = ReadonlyMap<string, IntegerRule>;

/**
 * The fields that are allowed in addition to `period`. Any other field is rejected, so that a test sees if an
 * undocumented one is sent.
 */
const rules = {
  series: new Map([
    ['panel_width', { least: 100, most: 5200, nullable: true }],
    ['bin_size', { least: 60, most: 3600, nullable: true }],
  ]),
  duration: new Map(),
  healthScore: new Map([['timezone_offset_minutes', { least: -1440, most: 1440, nullable: false }]]),
  volume: new Map([['chart_width', { least: 100, most: 5200, nullable: true }]]),
} as const satisfies Record<string, Rules>;

/** Fields that are not integers; the operation that reads them checks them. */
const otherFields: ReadonlySet<string> = new Set(['period']);
const volumeFields: ReadonlySet<string> = new Set(['period', 'serial_numbers', 'smart_sampling']);

/** Returns the request in a body of one of the four kinds, or the response with 422. */
export function telemetryRequest({ request, now }: Scene, sort: keyof typeof rules): TelemetryRequest | DemoResponse {
  const body = /^application\/json\b/i.test(request.headers.get('content-type') ?? '')
    ? parsedJson(request.body)
    : undefined;
  if (!isObject(body)) {
    return invalid({
      type: 'model_attributes_type',
      loc: ['body'],
      msg: 'A JSON object is expected',
      input: request.body,
    });
  }
  const text = body.period;
  const period = typeof text === 'string' ? parsePeriod(text, now) : 'a string is required';
  const complaints = integerComplaints(body, rules[sort], sort === 'volume' ? volumeFields : otherFields);
  if (typeof period === 'string') {
    return invalid({ type: 'value_error', loc: ['body', 'period'], msg: period, input: text ?? null }, ...complaints);
  }
  if (complaints.length > 0) return invalid(...complaints);
  const binSeconds = body.bin_size;
  return { period, binSeconds: typeof binSeconds === 'number' ? binSeconds : undefined };
}

function integerComplaints(
  body: Readonly<Record<string, unknown>>,
  allowed: Rules,
  others: ReadonlySet<string>,
): readonly Complaint[] {
  return Object.entries(body).flatMap(([field, value]) => {
    const rule = allowed.get(field);
    if (others.has(field)) return [];
    if (rule === undefined)
      return { type: 'extra_forbidden', loc: ['body', field], msg: 'Not permitted', input: value };
    if (value === null && rule.nullable) return [];
    const fits = typeof value === 'number' && Number.isInteger(value) && value >= rule.least && value <= rule.most;
    const msg = `An integer from ${rule.least} to ${rule.most} is expected`;
    return fits ? [] : { type: 'int_range', loc: ['body', field], msg, input: value };
  });
}
