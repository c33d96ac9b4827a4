import type { DemoResponse, Scene } from '../exchange.ts';
import { empty, gfaError, json } from '../exchange.ts';
import { MINUTE_MS, rfc3339 } from '../world/waveforms.ts';
import type { MarkedGroup } from './bookmarks.ts';
import { Bookmarks } from './bookmarks.ts';
import type { PairEvent } from './events.ts';
import { lockEvents, propagationEvents } from './events.ts';
import type { GfaRecord } from './records.ts';
import { filerRecords, lockRecord, propagationRecord, refreshedAt, volumeRecords } from './records.ts';

type Group = 'volumes' | 'filers' | MarkedGroup;
/** The file acceleration service has no lists with pages. */
type GfaScene = Omit<Scene, 'cursors'>;
type Groups = ReadonlyMap<Group, readonly GfaRecord[]>;

/** `info` looks for the newest event this far back. */
const LATELY_MS = 20 * MINUTE_MS;

/** The query switch of each group. */
const switches: ReadonlyMap<Group, string> = new Map([
  ['volumes', 'volume_metrics'],
  ['filers', 'filer_metrics'],
  ['propagation', 'propagation_metrics'],
  ['locks', 'lock_metrics'],
]);

/** The file acceleration telemetry service: `GET /data`. */
export class Gfa {
  readonly #token: string;
  readonly #bookmarks = new Bookmarks();

  constructor(token: string) {
    this.#token = token;
  }

  /** The response to `GET /data`; it moves the client's bookmarks. */
  data(scene: GfaScene): DemoResponse {
    const { request, world, variations, now } = scene;
    const authorization = variations.bearer ? `Bearer ${this.#token}` : this.#token;
    if (request.headers.get('authorization') !== authorization) return empty(401);
    if (world.volumes.length === 0) return gfaError(406, 'no volume information for this token');
    const time = (at: number) => rfc3339(at, variations.fractionalTimestamps);
    return json(200, {
      version: 1,
      flags: {},
      info: {
        account: world.account,
        last_info: time(refreshedAt(now)),
        last_lock_event: time(newest(lockEvents(world, now - LATELY_MS, now))),
        last_propagation: time(newest(propagationEvents(world, now - LATELY_MS, now))),
        request_time: time(now),
        volumes: world.volumes.map((volume) => volume.guid),
      },
      metrics: this.#metrics(scene),
    });
  }

  #metrics(scene: GfaScene): unknown {
    const groups = new Map<Group, readonly GfaRecord[]>();
    for (const [group, name] of switches) {
      if (scene.request.query.get(name) !== 'false') groups.set(group, this.#records(group, scene));
      else if (scene.variations.switchedOff === 'empty') groups.set(group, []);
    }
    if (scene.variations.metricsShape === 'split') return split(groups, 3);
    const whole = Object.fromEntries(groups);
    return scene.variations.metricsShape === 'object' ? whole : [whole];
  }

  #records(group: Group, { request, world, variations, now }: GfaScene): readonly GfaRecord[] {
    if (group === 'volumes') return volumeRecords(world, variations, now);
    if (group === 'filers') return filerRecords(world, variations, now);
    const client = request.headers.get(variations.clientKeyHeader.toLowerCase()) ?? 'swagger client';
    const from = this.#bookmarks.advance(client, group, now, variations);
    return group === 'locks'
      ? lockEvents(world, from, now).map((event) => lockRecord(event, variations))
      : propagationEvents(world, from, now).map((event) => propagationRecord(event, variations));
  }
}

/** The time of the newest event; the epoch if there is none. */
function newest(events: readonly PairEvent[]): number {
  return events.reduce((latest, event) => Math.max(latest, event.at), 0);
}

/** Spreads each group over several metrics objects. */
function split(groups: Groups, parts: number): readonly unknown[] {
  return Array.from({ length: parts }, (_, part) =>
    Object.fromEntries([...groups].map(([group, records]) => [group, records.filter((_, at) => at % parts === part)])),
  );
}
