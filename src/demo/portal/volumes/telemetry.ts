import type { Complaint, DemoResponse, Scene } from '../../exchange.ts';
import { invalid, isObject, json, parsedJson, portalError } from '../../exchange.ts';
import type { Volume } from '../../world/world.ts';
import { telemetryRequest } from '../appliances/telemetry-request.ts';
import type { Item } from '../item.ts';
import type { DemoOperation } from '../operation.ts';
import type { RequestedPeriod } from '../period.ts';
import { isUuid } from '../query.ts';
import { propagations } from './snapshot-propagation.ts';
import { details, timeline } from './snapshot-records.ts';

/** The records of one operation about a volume's snapshots, for some appliances. */
export type ToRecords = (scene: Scene, volume: Volume, period: RequestedPeriod, requested: ReadonlySet<string>) => Item;

const segments: Readonly<Record<string, ToRecords>> = {
  snapshot_timeline: timeline,
  snapshot_details: details,
  snapshot_propagation_by_appliance: propagations,
};

/** `POST /telemetry/volumes/{volume_id}/{segment}` for the volume operations that the exporter requests. */
export const volumeTelemetryOperations: readonly DemoOperation[] = Object.entries(segments).map(
  ([segment, toRecords]) => ({
    name: segment,
    method: 'POST',
    path: `/telemetry/volumes/{volume_id}/${segment}`,
    respond: (scene, { volume_id = '' }) => respond(scene, volume_id, toRecords),
  }),
);

function respond(scene: Scene, portalId: string, toRecords: ToRecords): DemoResponse {
  if (!scene.variations.opsIqPremium) return portalError(403, 'The licence for this operation is missing');
  const volume = scene.world.volumes.find((candidate) => candidate.portalId === portalId);
  if (volume === undefined) return portalError(404, 'Unknown volume');
  const request = telemetryRequest(scene, 'volume');
  if ('status' in request) return request;
  const body = parsedJson(scene.request.body);
  const { serial_numbers, smart_sampling } = isObject(body) ? body : {};
  const complaints = [...serialsComplaints(serial_numbers), ...samplingComplaints(smart_sampling)];
  if (complaints.length > 0) return invalid(...complaints);
  const requested = new Set((serial_numbers as readonly string[]).map((serial) => serial.toLowerCase()));
  const records = toRecords(scene, volume, request.period, requested);
  return json(200, { ...(scene.variations.omitOptional ? {} : { metadata: {} }), ...records });
}

function serialsComplaints(serials: unknown): readonly Complaint[] {
  const fits =
    Array.isArray(serials) && serials.length > 0 && serials.every((one) => typeof one === 'string' && isUuid(one));
  if (fits) return [];
  return [{ type: 'list_type', loc: ['body', 'serial_numbers'], msg: 'UUIDs are expected', input: serials ?? null }];
}

function samplingComplaints(sampling: unknown): readonly Complaint[] {
  if (sampling === undefined || sampling === null || typeof sampling === 'boolean') return [];
  return [{ type: 'bool_type', loc: ['body', 'smart_sampling'], msg: 'A boolean is expected', input: sampling }];
}
