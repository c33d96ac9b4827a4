import type { ApplianceRole, Disk, VolumeRole } from './roles.ts';
import { applianceRoles, roleAt, volumeRoles } from './roles.ts';
import { draw, uuidOf } from './waveforms.ts';

/** One appliance; `serial` is its `filer_guid` in `GET /data` too. */
export interface DemoAppliance extends Omit<ApplianceRole, 'name'> {
  readonly serial: string;
  /** The id of `GET /edges`, never the serial. */
  readonly edgeId: string;
  readonly title: string;
  readonly disks: ReadonlySet<Disk>;
  /** The guids of the volumes that it is connected to; none for a file-intelligence appliance. */
  readonly volumes: ReadonlySet<string>;
  readonly joinedAt: number;
  readonly leftAt: number;
}

/** One volume; `portalId` carries the numeric suffix that some portal ids have. */
export interface Volume extends Omit<VolumeRole, 'name'> {
  readonly guid: string;
  readonly portalId: string;
  readonly title: string;
}

/** The maximum number of removed appliances that are kept for their past events. */
const DEPARTED_KEPT = 100;

/** The appliances and volumes of a seed. Only titles and appliances change, and only by calls. */
export class SimulatedFleet {
  readonly seed: number;
  readonly account: string;
  readonly startedAt: number;
  /** Without failures of its own: no trait, no failed job, no failed credential. */
  readonly isCalm: boolean;
  readonly #appliances = new Map<string, DemoAppliance>();
  readonly #volumes = new Map<string, Volume>();
  #departed: readonly DemoAppliance[] = [];
  #joined = 0;

  constructor(
    seed: number,
    sizes: { readonly appliances: number; readonly volumes: number },
    startedAt: number,
    isCalm = false,
  ) {
    this.seed = seed;
    this.account = uuidOf(seed, 'account');
    this.startedAt = startedAt;
    this.isCalm = isCalm;
    for (let index = 0; index < sizes.volumes; index += 1) this.#addVolume(index);
    while (this.#joined < sizes.appliances) this.addAppliance(Number.NEGATIVE_INFINITY);
  }

  get appliances(): readonly DemoAppliance[] {
    return [...this.#appliances.values()];
  }

  get volumes(): readonly Volume[] {
    return [...this.#volumes.values()];
  }

  /** The present and the removed appliances: events stay longer than their appliance. */
  get everyAppliance(): readonly DemoAppliance[] {
    return [...this.#appliances.values(), ...this.#departed];
  }

  appliance(serial: string): DemoAppliance | undefined {
    return this.#appliances.get(serial);
  }

  volume(guid: string): Volume | undefined {
    return this.#volumes.get(guid);
  }

  /** The volumes that an appliance is connected to. */
  volumesOf(appliance: DemoAppliance): readonly Volume[] {
    return this.volumes.filter((volume) => appliance.volumes.has(volume.guid));
  }

  /** The appliances connected to a volume, its owner first. */
  appliancesOf(volume: Volume): readonly DemoAppliance[] {
    return this.appliances
      .filter((appliance) => appliance.volumes.has(volume.guid))
      .map((appliance) => ({ appliance, place: draw(volume.guid, appliance.serial, 'owner') }))
      .sort((one, other) => one.place - other.place)
      .map(({ appliance }) => appliance);
  }

  /** Adds the next appliance of the cast; it has no history before `joinedAt`. */
  addAppliance(joinedAt: number): DemoAppliance {
    const index = this.#joined;
    this.#joined += 1;
    const { name, ...role } = roleAt(applianceRoles, index);
    const serial = uuidOf(this.seed, 'appliance', index);
    const appliance: DemoAppliance = {
      ...role,
      ...(this.isCalm && { trait: 'ordinary' }),
      serial,
      edgeId: uuidOf(this.seed, 'edge', index),
      title: name,
      disks: new Set<Disk>(['cache', ...role.extraDisks, 'os']),
      volumes: new Set(role.kind === 'edge' ? this.#connections(serial, index) : []),
      joinedAt,
      leftAt: Number.POSITIVE_INFINITY,
    };
    this.#appliances.set(serial, appliance);
    return appliance;
  }

  /** Removes an appliance from everything but its past events. */
  removeAppliance(serial: string, leftAt: number): void {
    const gone = this.#appliances.get(serial);
    if (gone === undefined) return;
    this.#appliances.delete(serial);
    this.#departed = [...this.#departed, { ...gone, leftAt }].slice(-DEPARTED_KEPT);
  }

  renameAppliance(serial: string, title: string): void {
    this.#change(serial, { title });
  }

  switchOff(serial: string): void {
    this.#change(serial, { trait: 'off' });
  }

  renameVolume(guid: string, title: string): void {
    const volume = this.#volumes.get(guid);
    if (volume !== undefined) this.#volumes.set(guid, { ...volume, title });
  }

  #change(serial: string, change: Partial<DemoAppliance>): void {
    const appliance = this.#appliances.get(serial);
    if (appliance !== undefined) this.#appliances.set(serial, { ...appliance, ...change });
  }

  #addVolume(index: number): void {
    const { name, ...role } = roleAt(volumeRoles, index);
    const guid = uuidOf(this.seed, 'volume', index);
    const portalId = index % 2 === 0 ? `${guid}_${index}` : guid;
    this.#volumes.set(guid, { ...role, ...(this.isCalm && { trait: 'ordinary' }), guid, portalId, title: name });
  }

  /** About half of the volumes, and always at least one. */
  #connections(serial: string, index: number): readonly string[] {
    const guids = [...this.#volumes.keys()];
    return guids.filter((guid, place) => place === index % guids.length || draw(guid, serial, 'connected') < 0.5);
  }
}

/** Whether an appliance reports its memory in detail: build 10.0.4 and later. */
export function hasMemoryDetails(appliance: DemoAppliance): boolean {
  const [major = 0, minor = 0, patch = 0] = appliance.build.split('.').map((part) => Number.parseInt(part, 10));
  return major * 1_000_000 + minor * 1_000 + patch >= 10_000_004;
}
