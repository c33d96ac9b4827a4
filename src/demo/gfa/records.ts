import type { Variations } from '../variations.ts';
import { silentSince } from '../world/reach.ts';
import { draw, floorTo, HOUR_MS, MINUTE_MS, rfc3339, sawtooth, smoothNoise, uuidOf } from '../world/waveforms.ts';
import type { DemoAppliance, SimulatedFleet, Volume } from '../world/world.ts';
import type { LockEvent, PairEvent, PropagationEvent } from './events.ts';

/** One record of `GET /data`, as the service sends it. */
export type GfaRecord = Readonly<Record<string, string | number>>;

/** How often the service updates the records of appliances and volumes. */
const REFRESH_MS = 30_000;

/** The moment of the newest appliance and volume records. */
export function refreshedAt(now: number): number {
  return floorTo(now, REFRESH_MS);
}

/** The guid of an appliance where the accelerator has one of its own. */
export function guidApart(serial: string): string {
  return uuidOf(serial, 'accelerated');
}

/** One record for each volume. */
export function volumeRecords(world: SimulatedFleet, variations: Variations, now: number): readonly GfaRecord[] {
  const at = refreshedAt(now);
  return world.volumes.map((volume) => ({
    ...head('volume', at, variations),
    ...volumeNames(volume),
    mode: volume.mode,
    profile: volume.profile,
    time_to_protect: Math.round(
      (volume.trait === 'slow' ? 14_400 : 600) * (1 + smoothNoise(`${volume.guid}/protect`, at, HOUR_MS)),
    ),
  }));
}

/** For each appliance one record about itself, and one for each volume that it is connected to. */
export function filerRecords(world: SimulatedFleet, variations: Variations, now: number): readonly GfaRecord[] {
  const at = refreshedAt(now);
  return world.appliances.flatMap((appliance) => {
    const common = { ...head('filer', at, variations), ...applianceNames(appliance, variations) };
    const contactSeconds = secondsSinceContact(world, appliance, at);
    const alone = { ...common, last_checkin: contactSeconds };
    const onVolumes = world.volumesOf(appliance).map((volume) => {
      const name = `${appliance.serial}/${volume.guid}`;
      const periodMs = (5 + 35 * draw(name, 'period')) * MINUTE_MS;
      const quietSeconds = Math.round((periodMs / 1000) * sawtooth(`${name}/busy`, at, periodMs));
      const oldest = variations.omitOptional ? undefined : oldestSeconds(world, appliance, name, volume, at);
      return {
        ...common,
        ...volumeNames(volume),
        last_checkin: contactSeconds + quietSeconds,
        ...(oldest === undefined ? {} : { oldest_unprotected_data: oldest }),
      };
    });
    return [alone, ...onVolumes];
  });
}

/** A lock event; with the variation, its state is undocumented from time to time. */
export function lockRecord(event: LockEvent, variations: Variations): GfaRecord {
  const strange = variations.unknownStates && event.luck < 0.2;
  return {
    ...pairHead('lock', event, variations),
    lock_phase: strange && event.luck < 0.1 ? 'P3' : 'P2',
    lock_state: strange && event.luck >= 0.1 && event.state === 'RELEASED' ? 'EXPIRED' : event.state,
    ...(event.heldSeconds === undefined || variations.omitOptional ? {} : { lock_duration: event.heldSeconds }),
  };
}

/** A propagation event. */
export function propagationRecord(event: PropagationEvent, variations: Variations): GfaRecord {
  return {
    ...pairHead('propagation', event, variations),
    kind: variations.unknownStates && event.luck < 0.2 ? 'attributes' : event.kind,
    prop_seconds: event.seconds,
    ...(variations.dataProtected ? { data_protected: Math.ceil(5000 * event.luck ** 3) } : {}),
  };
}

/** Returns up to about a minute; for a silent appliance, the time since its last contact. */
function secondsSinceContact(world: SimulatedFleet, appliance: DemoAppliance, at: number): number {
  const silentMs = at - silentSince(world, appliance);
  if (silentMs > 0) return Math.round(silentMs / 1000);
  return Math.floor(67 * sawtooth(`${appliance.serial}/contact`, at, 67_000));
}

/** Data that waited when an appliance fell silent has waited ever since. */
function oldestSeconds(
  world: SimulatedFleet,
  appliance: DemoAppliance,
  name: string,
  volume: Volume,
  at: number,
): number | undefined {
  const lastAt = Math.min(at, silentSince(world, appliance));
  const age = unprotectedSeconds(name, volume, lastAt);
  return age === undefined ? undefined : age + Math.round((at - lastAt) / 1000);
}

/** Returns undefined in off-peak hours, when no data is unprotected. */
function unprotectedSeconds(name: string, volume: Volume, at: number): number | undefined {
  const age = smoothNoise(`${name}/unprotected`, at, 20 * MINUTE_MS);
  if (volume.trait === 'slow') return Math.round(10_800 + 21_600 * age);
  return age < 0.15 ? undefined : Math.round(3_600 * age);
}

function pairHead(type: string, event: PairEvent, variations: Variations): GfaRecord {
  return {
    ...head(type, event.at, variations),
    ...applianceNames(event.appliance, variations),
    ...volumeNames(event.volume),
  };
}

function head(type: string, at: number, variations: Variations): GfaRecord {
  return { metric_type: type, version: 1, timestamp: rfc3339(at, variations.fractionalTimestamps) };
}

function applianceNames({ serial, title }: DemoAppliance, { filerGuids, filerTitles }: Variations): GfaRecord {
  return {
    filer_guid: filerGuids === 'own' ? guidApart(serial) : filerGuids === 'upper' ? serial.toUpperCase() : serial,
    filer_title: filerTitles === 'own' ? `${title}.accelerated` : title,
  };
}

function volumeNames(volume: Volume): GfaRecord {
  return { volume_guid: volume.guid, volume_title: volume.title };
}
