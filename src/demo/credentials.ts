import { uuidOf } from './world/waveforms.ts';

/** The credentials that the two services accept. Derived from the seed, so they are no secret. */
export interface DemoCredentials {
  readonly gfaToken: string;
  readonly serviceKey: string;
  /** A UUID. */
  readonly serviceSecret: string;
  readonly userKey: string;
}

/** The credentials of a seed. */
export function credentialsOf(seed: number): DemoCredentials {
  return {
    gfaToken: uuidOf(seed, 'gfa token'),
    serviceKey: `service-${uuidOf(seed, 'service key').slice(0, 8)}`,
    serviceSecret: uuidOf(seed, 'service secret'),
    userKey: `user-${uuidOf(seed, 'user key')}`,
  };
}
