import type { DemoResponse, Scene } from '../../exchange.ts';
import { json } from '../../exchange.ts';
import { busyness, following, loadAverage, memoryTotal, memoryUsed } from '../../world/load.ts';
import { draw, HOUR_MS, MINUTE_MS } from '../../world/waveforms.ts';
import type { DemoAppliance } from '../../world/world.ts';
import { measured, newestMinute, timeOf, written } from './records.ts';
import { telemetryRequest } from './telemetry-request.ts';

const cpu = following('cpu', 90);

/** `current_appliance_performance`: one object about the last half hour; the period is ignored. */
export function currentPerformance(scene: Scene, appliance: DemoAppliance): DemoResponse {
  const request = telemetryRequest(scene, 'duration');
  if ('status' in request) return request;
  const { world, variations, now } = scene;
  const at = newestMinute(appliance, now);
  const minutes = Array.from({ length: 30 }, (_, back) => at - back * MINUTE_MS);
  const share = (value: (minute: number) => number) =>
    measured(minutes.reduce((sum, minute) => sum + value(minute), 0) / minutes.length, 'share', variations);
  const total = memoryTotal(appliance);
  const bootedAt = Math.max(
    appliance.joinedAt,
    world.startedAt - (1 + 60 * draw(appliance.serial, 'boot')) * 24 * HOUR_MS,
  );
  const values = {
    cpu_util: share((minute) => cpu(appliance, minute)),
    available_memory: share((minute) => (100 * (total - memoryUsed(appliance, minute))) / total),
    fifteen_minute_load_average: written(loadAverage(15)(appliance, at), variations.decimals),
    uptime: Math.round((now - bootedAt) / 1000),
    num_cores: appliance.cores,
    time: timeOf(at, variations),
  };
  const isNull = (field: string) => draw(appliance.serial, field, at, 'null') < variations.nulls;
  const entries = Object.entries(values)
    .map(([field, value]) => [field, isNull(field) ? null : value] as const)
    .filter(([, value]) => value !== null || !variations.omitOptional);
  return json(200, { ...(variations.omitOptional ? {} : { metadata: {} }), ...Object.fromEntries(entries) });
}

/** `appliance_health_score`: one object, its score as text. */
export function healthScore(scene: Scene, appliance: DemoAppliance): DemoResponse {
  const request = telemetryRequest(scene, 'healthScore');
  if ('status' in request) return request;
  const { variations, now } = scene;
  const at = newestMinute(appliance, now);
  const score = Math.round(100 - 35 * busyness(appliance, at) - 20 * draw(appliance.serial, 'health'));
  const status = score >= 70 ? 'Healthy' : 'Warning';
  const points = Array.from({ length: 12 }, (_, place) => at - (11 - place) * 5 * MINUTE_MS);
  const loads = points.map((time) => loadAverage(5)(appliance, time));
  const meanLoad = loads.reduce((sum, load) => sum + load, 0) / loads.length;
  return json(200, {
    serial_number: appliance.serial,
    appliance_name: appliance.title,
    health_score: String(score),
    statistics: {
      cpu_count: appliance.cores,
      avg_load: written(meanLoad, variations.decimals),
      max_load: written(Math.max(...loads), variations.decimals),
    },
    description: { health_status: status, overview: variations.omitOptional ? null : 'Load of the last hour' },
    raw_data: {
      title: 'Load average',
      column_names: ['time', 'value'],
      data: points.map((time, place) => ({ time, value: written(loads[place] ?? 0, variations.decimals) })),
    },
    ...(variations.omitOptional ? {} : { anomaly_details: {}, metadata: {} }),
  });
}
