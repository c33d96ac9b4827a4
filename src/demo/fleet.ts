import fleetJson from './responses/fleet.json' with { type: 'json' };
import { draw, uuidOf } from './values.ts';

export type Disk = 'cache' | 'cow' | 'file_iq' | 'os';

export interface Volume {
  readonly guid: string;
  /** Some ids of the portal have a numeric suffix. */
  readonly portalId: string;
  name: string;
  readonly mode: string;
  readonly profile: string;
  readonly cloud: { readonly provider: string; readonly region: string; readonly credential: string };
  readonly indexing: { readonly inventory: string | null; readonly index: string | null; readonly files: number };
  /** Takes hours to protect its data, and some of its snapshots fail. */
  isSlow: boolean;
}

/** The part of an appliance that can be changed. Times are in milliseconds since the Unix epoch. */
interface ApplianceState {
  name: string;
  /** It is switched off: the portal has no newer records of it. */
  offSince: number;
  /** It has lost contact with both services, although the portal still has its records. */
  silentSince: number;
  /** Its cache fills up over nine hours, and then data is evicted. */
  isFilling: boolean;
}

export interface Appliance extends ApplianceState {
  /** Its `filer_guid` in `GET /data`, too. */
  readonly serial: string;
  readonly edgeId: string;
  readonly kind: 'edge' | 'file_iq';
  readonly utcOffsetHours: number;
  readonly build: string;
  readonly availableBuild: string | null;
  readonly cores: number;
  readonly memoryGib: number;
  readonly disks: readonly Disk[];
  /** The list is empty for a file-intelligence appliance. */
  readonly volumes: readonly Volume[];
  readonly joinedAt: number;
  leftAt: number;
}

type Role = Pick<Appliance, 'name' | 'kind' | 'utcOffsetHours' | 'build' | 'cores' | 'memoryGib' | 'disks'> & {
  readonly availableBuild?: string;
};

const roles = fleetJson.appliances.map((role) => ({ ...fleetJson.office, ...role })) as readonly Role[];

/** The appliances and volumes. They are always the same; only the calls below change them. */
export class Fleet {
  readonly account: string = fleetJson.account;
  readonly startedAt: number;
  readonly volumes: readonly Volume[] = fleetJson.volumes.map((volume) => ({ ...volume, isSlow: false }));
  /** In the order in which they joined. The removed ones stay, because their events do. */
  readonly everyAppliance: Appliance[] = [];

  constructor(appliances: number, startedAt: number) {
    this.startedAt = startedAt;
    while (this.everyAppliance.length < appliances) this.everyAppliance.push(this.#next(Number.NEGATIVE_INFINITY));
  }

  /** The appliances that have not been removed. */
  get appliances(): readonly Appliance[] {
    return this.everyAppliance.filter(({ leftAt }) => leftAt === Number.POSITIVE_INFINITY);
  }

  /** Adds the next appliance of the cast, which has no history before `now`. */
  add(now: number): Appliance {
    const appliance = this.#next(now);
    this.everyAppliance.push(appliance);
    return appliance;
  }

  /** Removes an appliance from everything but its past events. */
  remove(name: string, now: number): void {
    named(this.appliances, name).leftAt = now;
  }

  change(name: string, change: Partial<ApplianceState>): void {
    Object.assign(named(this.appliances, name), change);
  }

  changeVolume(name: string, change: Partial<Pick<Volume, 'name' | 'isSlow'>>): void {
    Object.assign(named(this.volumes, name), change);
  }

  /** The appliances connected to a volume, in the order in which they joined. */
  membersOf(volume: Volume): readonly Appliance[] {
    return this.appliances.filter(({ volumes }) => volumes.includes(volume));
  }

  ownerOf(volume: Volume): Appliance | undefined {
    return this.appliances.find(({ volumes }) => volumes[0] === volume);
  }

  /** A fleet that is larger than the cast repeats it with numbered names. */
  #next(joinedAt: number): Appliance {
    const index = this.everyAppliance.length;
    const role = roles[index % roles.length] as Role;
    const round = Math.floor(index / roles.length);
    const serial = uuidOf(1, 'appliance', index);
    return {
      ...role,
      name: round === 0 ? role.name : `${role.name}-${round + 1}`,
      availableBuild: role.availableBuild ?? null,
      serial,
      edgeId: uuidOf(1, 'edge', index),
      volumes: role.kind === 'edge' ? this.#volumesOf(serial, index) : [],
      joinedAt,
      leftAt: Number.POSITIVE_INFINITY,
      offSince: Number.POSITIVE_INFINITY,
      silentSince: Number.POSITIVE_INFINITY,
      isFilling: false,
    };
  }

  /** About half of the volumes. The first of them is another one for each appliance, which may own it. */
  #volumesOf(serial: string, index: number): readonly Volume[] {
    const first = this.volumes[index % this.volumes.length] as Volume;
    const others = this.volumes.filter((volume) => volume !== first && draw(volume.guid, serial, 'connected') < 0.5);
    return [first, ...others];
  }
}

function named<Item extends { readonly name: string }>(items: readonly Item[], name: string): Item {
  const found = items.find((item) => item.name === name);
  if (found === undefined) throw new Error(`changing the demo: it has no appliance or volume with the name ${name}`);
  return found;
}

/** The time of the last contact of an appliance with the services; infinite while it has contact. */
export function lastContact({ offSince, silentSince }: Appliance): number {
  return Math.min(offSince, silentSince);
}

/** Whether the appliance's build reports its memory in detail: 10.0.4 and later. */
export function hasMemoryDetails({ build }: Appliance): boolean {
  const [major = 0, minor = 0, patch = 0] = build.split('.').map(Number);
  return major * 1_000_000 + minor * 1_000 + patch >= 10_000_004;
}
