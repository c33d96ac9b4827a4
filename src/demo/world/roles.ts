/** The situation that an appliance or a volume demonstrates. */
export type Trait =
  | 'ordinary'
  /** Has not checked in with the accelerator since the mock services started. */
  | 'silent'
  /** Switched off hours before the mock services started. */
  | 'off'
  /** Unreachable for the portal in the last five minutes of each half hour. */
  | 'wavering'
  /** Its cache fills up over hours, and then data is evicted. */
  | 'filling'
  /** Takes hours to protect its data. */
  | 'slow';

/** The disks in telemetry; every appliance has the first and the last. */
export type Disk = 'cache' | 'cow' | 'file_iq' | 'os';

/** The fixed properties of an appliance; its other ones depend on the seed. */
export interface ApplianceRole {
  readonly name: string;
  readonly kind: 'edge' | 'file_iq';
  readonly utcOffsetHours: number;
  readonly build: string;
  readonly availableBuild?: string;
  readonly cores: number;
  readonly memoryGib: number;
  readonly extraDisks: readonly Disk[];
  readonly trait: Trait;
}

/** The fixed properties of a volume. */
export interface VolumeRole {
  readonly name: string;
  readonly mode: 'Active' | 'Observation' | 'Disabled';
  readonly profile: string;
  readonly trait: Trait;
}

const office = {
  kind: 'edge',
  utcOffsetHours: 0,
  build: '10.1.2',
  cores: 8,
  memoryGib: 32,
  extraDisks: [],
  trait: 'ordinary',
} as const satisfies Omit<ApplianceRole, 'name'>;

/** The appliances in the order of joining; a larger fleet repeats them with numbered names. */
export const applianceRoles: readonly [ApplianceRole, ...ApplianceRole[]] = [
  { ...office, name: 'edge-lyon', utcOffsetHours: 1, extraDisks: ['cow'] },
  { ...office, name: 'edge-osaka', utcOffsetHours: 9, build: '9.15.7', cores: 16, memoryGib: 64 },
  { ...office, name: 'edge-denver', utcOffsetHours: -7, build: '10.0.4', availableBuild: '10.1.2' },
  { ...office, name: 'edge-leeds', build: '10.0.4', extraDisks: ['cow'], trait: 'filling' },
  { ...office, name: 'edge-porto', build: '10.0.3', cores: 4, memoryGib: 16 },
  { ...office, name: 'edge-lima', utcOffsetHours: -5, trait: 'silent' },
  { ...office, name: 'edge-austin', utcOffsetHours: -6, build: '9.15.7', extraDisks: ['cow'] },
  { ...office, name: 'edge-bergen', utcOffsetHours: 1, extraDisks: ['file_iq'] },
  { ...office, name: 'edge-perth', utcOffsetHours: 8, build: '10.0.5', cores: 4, memoryGib: 16, trait: 'wavering' },
  { ...office, name: 'edge-quito', utcOffsetHours: -5, build: '10.0.3', extraDisks: ['cow', 'file_iq'] },
  { ...office, name: 'insight-milan', kind: 'file_iq', utcOffsetHours: 1, cores: 16, extraDisks: ['file_iq'] },
  { ...office, name: 'edge-nairobi', utcOffsetHours: 3, cores: 16, memoryGib: 64, extraDisks: ['cow'] },
];

/** The volumes in order. */
export const volumeRoles: readonly [VolumeRole, ...VolumeRole[]] = [
  { name: 'projects', mode: 'Active', profile: 'default', trait: 'ordinary' },
  { name: 'design', mode: 'Active', profile: 'collaboration-moderate', trait: 'ordinary' },
  { name: 'archive', mode: 'Active', profile: 'data-protect-only', trait: 'slow' },
  { name: 'media', mode: 'Observation', profile: '', trait: 'ordinary' },
  { name: 'home', mode: 'Disabled', profile: 'data-protect-moderate', trait: 'ordinary' },
];

/** The entry at a place in the order, with a numbered name from the second round on. */
export function roleAt<Role extends { readonly name: string }>(roles: readonly [Role, ...Role[]], index: number): Role {
  const role = roles[index % roles.length] ?? roles[0];
  const round = Math.floor(index / roles.length);
  return round === 0 ? role : { ...role, name: `${role.name}-${round + 1}` };
}
