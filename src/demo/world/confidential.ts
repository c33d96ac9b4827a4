import { credentialsOf } from '../credentials.ts';
import { uuidOf } from './waveforms.ts';

/** Texts about people and secrets in the responses of the portal; the exporter must never show one. Derived from the seed. */
export interface Confidential {
  readonly person: { readonly firstName: string; readonly lastName: string; readonly phone: string };
  /** The users' names, which are addresses. */
  readonly usernames: readonly [string, string, string, string];
  /** Access keys of cloud credentials, one for each. */
  readonly accessKeys: readonly [string, string, string];
  readonly gfaKeys: readonly [string, string];
  readonly serviceKeys: readonly [string, string];
  readonly userKeys: readonly [string, string];
}

/** The confidential values of a seed, including the credentials of the exporter. */
export function confidentialOf(seed: number): Confidential {
  const secret = (name: string) => `confidential-${uuidOf(seed, name)}`;
  const credentials = credentialsOf(seed);
  const address = (name: string) => `${name}.${uuidOf(seed, name).slice(0, 6)}@people.example`;
  return {
    person: { firstName: 'Ottoline-Demo', lastName: 'Quillfeather', phone: '+1 555 0142 917' },
    usernames: [address('owner'), address('operator'), address('auditor'), address('helpdesk')],
    accessKeys: [secret('access key 1'), secret('access key 2'), secret('access key 3')],
    gfaKeys: [credentials.gfaToken, uuidOf(seed, 'gfa key unused')],
    serviceKeys: [credentials.serviceKey, secret('service key 2')],
    userKeys: [credentials.userKey, secret('user key 2')],
  };
}

/** All of them as texts, for tests that search the output for them. */
export function confidentialTexts(seed: number): readonly string[] {
  return Object.values(confidentialOf(seed)).flatMap((value) => Object.values<string>(value));
}
