import { type DemoResponse, errorResponse, invalid, jsonObject, ok } from './exchange.ts';
import { type Appliance, type Disk, hasMemoryDetails } from './fleet.ts';
import { DAY_MS, draw, floorTo, HOUR_MS, MINUTE_MS, noise, sawtooth } from './values.ts';

/** A number of an appliance at a minute. */
type Value = (appliance: Appliance, at: number) => number;
/** A field of a record as it is sent, for a bin of so many minutes that begins at a time. */
type Field = (appliance: Appliance, at: number, minutes: number) => string | number;
type Fields = Readonly<Record<string, Field>>;

export interface Period {
  readonly startMs: number;
  readonly endMs: number;
}

/** Appliances report every five minutes, each at a time of its own. */
const REPORT_MS = 5 * MINUTE_MS;
const MIN_PERIOD_MS = 6 * MINUTE_MS;
const MAX_PERIOD_MS = 30 * DAY_MS;
/** Appliances boot as often as this. */
const BOOT_MS = 60 * DAY_MS;

function decimal(value: Value): Field {
  return (appliance, at) => decimalText(value(appliance, at));
}

function integer(value: Value): Field {
  return (appliance, at) => Math.round(value(appliance, at));
}

/** A field that counts: its value is the sum over the whole bin. */
function count(value: Value): Field {
  return (appliance, at, minutes) => Math.round(value(appliance, at) * minutes);
}

/** The appliance's activity with some noise of its own: from 0 to about `most`. */
function following(name: string, most: number): Value {
  return (appliance, at) =>
    most * activity(appliance, at) * (0.7 + 0.5 * noise(`${appliance.serial}/${name}`, at, 4 * MINUTE_MS));
}

function loadAverage(minutes: number): Value {
  return (appliance, at) => {
    const peak = noise(`${appliance.serial}/load`, at, minutes * 2 * MINUTE_MS);
    return appliance.cores * (0.6 * activity(appliance, at - (minutes * MINUTE_MS) / 2) + 0.25 * peak);
  };
}

const cpuPercent = following('cpu', 90);

/** Memory is in KB. */
const memoryTotal: Value = ({ memoryGib }) => memoryGib * 1_048_576;

const memoryUsed: Value = (appliance, at) => {
  const calm = noise(`${appliance.serial}/memory`, at, 2 * HOUR_MS);
  return memoryTotal(appliance, at) * (0.25 + 0.2 * calm + 0.15 * activity(appliance, at));
};

const memoryReclaimable: Value = (appliance, at) =>
  memoryTotal(appliance, at) * (0.2 + 0.1 * noise(`${appliance.serial}/reclaimable`, at, 3 * HOUR_MS));

const memoryAvailable: Value = (appliance, at) => memoryTotal(appliance, at) - memoryUsed(appliance, at);

const cachePercent: Value = (appliance, at) =>
  appliance.isFilling
    ? 58 + 40 * sawtooth(`${appliance.serial}/fill`, at, 9 * HOUR_MS)
    : 66 + 18 * noise(`${appliance.serial}/cache`, at, 6 * HOUR_MS);

/** The series of one disk. The cache spells the fields of its operations unlike the others. */
function diskSeries(disk: Disk, prefix: string, weight: number): Readonly<Record<string, Fields>> {
  const level = (name: string, most: number) => decimal(following(`${disk}/${name}`, most * weight));
  return {
    [`${disk}_disk_iops`]: {
      [`${prefix}_io_reads`]: level('reads', 900),
      [`${prefix}_io_writes`]: level('writes', 600),
    },
    [`${disk}_disk_io_time`]: { io_time: level('time', 800), weighted_io_time: level('weighted', 2600) },
    [`${disk}_disk_io_latency`]: {
      read_latency: decimal(following(`${disk}/read`, 8)),
      write_latency: decimal(following(`${disk}/write`, 14)),
    },
  };
}

/** The 20 series of an appliance, by the last part of their path. */
const series: Readonly<Record<string, Fields>> = {
  load_average: {
    one_minute_load_average: decimal(loadAverage(1)),
    five_minute_load_average: decimal(loadAverage(5)),
    fifteen_minute_load_average: decimal(loadAverage(15)),
  },
  cpu_utilization: { cpu_usage: decimal((appliance, at) => Math.min(100, cpuPercent(appliance, at))) },
  memory_utilization: {
    memory_used: decimal(memoryUsed),
    memory_cached: decimal((appliance, at) => 0.85 * memoryReclaimable(appliance, at)),
    memory_buffered: decimal((appliance, at) => 0.15 * memoryReclaimable(appliance, at)),
  },
  memory_utilization_details: {
    total: decimal(memoryTotal),
    available: decimal(memoryAvailable),
    shared: decimal((appliance, at) => 0.02 * memoryUsed(appliance, at)),
    buf_rec: decimal(memoryReclaimable),
    free: decimal((appliance, at) => memoryAvailable(appliance, at) - memoryReclaimable(appliance, at)),
    used: decimal(memoryUsed),
    utilization: decimal((appliance, at) => (100 * memoryUsed(appliance, at)) / memoryTotal(appliance, at)),
  },
  cache_utilization: { cache_utilization: decimal(cachePercent) },
  cache_hits_misses: { cache_reads: count(following('hits', 20_000)), cache_misses: count(following('misses', 900)) },
  network_utilization: {
    clients_in: integer(following('clients in', 40e6)),
    clients_out: integer(following('clients out', 120e6)),
    cloud_in: integer(following('cloud in', 30e6)),
    cloud_out: integer(following('cloud out', 50e6)),
  },
  smb_connections: { connections: integer(following('sessions', 400)) },
  ...diskSeries('cache', 'cache', 1),
  ...diskSeries('cow', 'cow_disk', 0.5),
  ...diskSeries('file_iq', 'file_iq_disk', 0.3),
  ...diskSeries('os', 'os_disk', 0.1),
};

/** `POST /telemetry/appliances/{serial}/{operation}`: the series, and two operations that return one object. */
export function applianceTelemetry(operation: string, appliance: Appliance, body: string, now: number): DemoResponse {
  if (operation === 'current_appliance_performance') {
    return withPeriod(body, [], now, () => ok(currentPerformance(appliance, now)));
  }
  if (operation === 'appliance_health_score') {
    return withPeriod(body, ['timezone_offset_minutes'], now, () => ok(healthScore(appliance, now)));
  }
  const fields = series[operation];
  if (fields === undefined) return errorResponse('portal', 404, 'Unknown telemetry');
  return withPeriod(body, ['panel_width', 'bin_size'], now, (period, { bin_size: binSeconds }) => {
    const binMs = Number(binSeconds ?? 60) * 1000;
    if (!(binMs >= MINUTE_MS)) return invalid('bin_size', 'An integer from 60 to 3600 is expected', binSeconds);
    const items = isMeasured(operation, appliance) ? records(fields, appliance, period, binMs, now) : [];
    // An appliance that is off has no cores: the number would be a sample.
    const cores = operation === 'load_average' ? { num_cores: isOff(appliance, now) ? null : appliance.cores } : {};
    return ok({ metadata: {}, items, ...cores });
  });
}

/** Reads the period of a telemetry request. A field that is not documented is rejected, so that a test sees it. */
export function withPeriod(
  text: string,
  otherFields: readonly string[],
  now: number,
  respond: (period: Period, body: Readonly<Record<string, unknown>>) => DemoResponse,
): DemoResponse {
  const body = jsonObject(text);
  if (body === undefined) return invalid('body', 'A JSON object is expected', text);
  const unknown = Object.keys(body).find((field) => field !== 'period' && !otherFields.includes(field));
  if (unknown !== undefined) return invalid(unknown, 'Not permitted', body[unknown]);
  const period = parsePeriod(String(body.period), now);
  if (period === undefined) return invalid('period', 'A duration or an interval is expected', body.period);
  const lengthMs = period.endMs - period.startMs;
  if (lengthMs < MIN_PERIOD_MS) return invalid('period', 'Shorter than 6 minutes', body.period);
  return lengthMs > MAX_PERIOD_MS ? invalid('period', 'Longer than 30 days', body.period) : respond(period, body);
}

/** A duration that ends now, such as `PT15M`, or two times with a slash between them. */
function parsePeriod(text: string, now: number): Period | undefined {
  const [, days = 0, hours = 0, minutes = 0] = /^P(?=.)(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?)?$/.exec(text) ?? [];
  const lengthMs = Number(days) * DAY_MS + Number(hours) * HOUR_MS + Number(minutes) * MINUTE_MS;
  if (lengthMs > 0) return { startMs: now - lengthMs, endMs: now };
  const [startMs = Number.NaN, endMs = Number.NaN, ...others] = text
    .split('/')
    .map((time) => (/^\d+$/.test(time) ? Number(time) : Date.parse(time)));
  return Number.isNaN(endMs - startMs) || others.length > 0 ? undefined : { startMs, endMs };
}

function isMeasured(operation: string, appliance: Appliance): boolean {
  if (operation === 'memory_utilization') return !hasMemoryDetails(appliance);
  if (operation === 'memory_utilization_details') return hasMemoryDetails(appliance);
  const [, disk] = /^(.+)_disk_/.exec(operation) ?? [];
  return disk === undefined || appliance.disks.some((own) => own === disk);
}

/** One record for each bin, with the values of the bin's first minute. */
function records(fields: Fields, appliance: Appliance, { startMs, endMs }: Period, binMs: number, now: number) {
  const items: Readonly<Record<string, string | number>>[] = [];
  const from = Math.max(startMs, appliance.joinedAt);
  const last = Math.min(endMs, newestMinute(appliance, now));
  for (let time = Math.ceil(from / binMs) * binMs; time <= last; time += binMs) {
    const record: Record<string, string | number> = { time };
    for (const [name, field] of Object.entries(fields)) record[name] = field(appliance, time, binMs / MINUTE_MS);
    items.push(record);
  }
  return items;
}

/** The newest minute that an appliance has reported. */
function newestMinute(appliance: Appliance, now: number): number {
  const phase = draw(appliance.serial, 'report') * REPORT_MS;
  const reportedAt = floorTo(floorTo(now - phase, REPORT_MS) + phase, MINUTE_MS);
  return Math.min(reportedAt, appliance.offSince);
}

function isOff({ offSince }: Appliance, now: number): boolean {
  return offSince <= now;
}

/** About the last half hour, whatever the period. */
function currentPerformance(appliance: Appliance, now: number) {
  if (isOff(appliance, now)) return {};
  const time = newestMinute(appliance, now);
  const bootPhase = draw(appliance.serial, 'boot') * BOOT_MS;
  const bootedAt = Math.max(appliance.joinedAt, floorTo(now - bootPhase, BOOT_MS) + bootPhase);
  return {
    metadata: {},
    cpu_util: decimalText(Math.min(100, cpuPercent(appliance, time))),
    fifteen_minute_load_average: decimalText(loadAverage(15)(appliance, time)),
    uptime: Math.round((now - bootedAt) / 1000),
    num_cores: appliance.cores,
    time,
  };
}

function healthScore(appliance: Appliance, now: number) {
  if (isOff(appliance, now)) return {};
  const at = newestMinute(appliance, now);
  const score = Math.round(100 - 35 * activity(appliance, at) - 20 * draw(appliance.serial, 'health'));
  return { health_score: String(score), description: { health_status: score >= 70 ? 'Healthy' : 'Warning' } };
}

/** As the service writes decimals: text without an exponent. */
export function decimalText(value: number): string {
  return String(Math.round(value * 100) / 100);
}

/** The activity of an appliance from 0 to 1: that of people at its place, with slow and quick noise. */
export function activity(appliance: Appliance, at: number): number {
  const localHour = (at / HOUR_MS + appliance.utcOffsetHours) % 24;
  // Highest at two in the afternoon.
  const people = 0.5 + 0.5 * Math.cos(((localHour - 14) / 24) * 2 * Math.PI);
  const slow = noise(`${appliance.serial}/slow`, at, 40 * MINUTE_MS);
  const quick = noise(`${appliance.serial}/quick`, at, 3 * MINUTE_MS);
  return 0.03 + 0.5 * people * (0.5 + 0.5 * slow) + 0.3 * slow * quick;
}
