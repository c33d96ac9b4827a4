import { request } from 'undici';
import { onTestFinished } from 'vitest';
import { type MockServices, type MockServicesOptions, startMockServices } from '../../src/demo/mock-services.ts';
import { ManualClock } from '../support/manual-clock.ts';

/** A JSON object as it came. */
export type Fields = Readonly<Record<string, unknown>>;

/** An answer read whole; `json` is undefined when the body is not JSON. */
export interface Heard {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  readonly json: unknown;
}

/** What a request says beside its method and address. */
export interface Said {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Mock services that end with the test, and their clock. */
export async function start(
  options: Partial<MockServicesOptions> = {},
): Promise<{ mocks: MockServices; clock: ManualClock }> {
  const clock = new ManualClock();
  const mocks = await startMockServices({ clock, ...options });
  onTestFinished(() => mocks.close());
  return { mocks, clock };
}

/** Sends a request and reads the answer whole. */
export async function ask(
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  url: string,
  said: Said = {},
): Promise<Heard> {
  const { statusCode, headers, body } = await request(url, { method, ...said });
  const text = await body.text();
  return { status: statusCode, headers, text, json: parsed(text) };
}

/** `GET /data` with the right token. */
export function data(mocks: MockServices, query = '', headers: Readonly<Record<string, string>> = {}): Promise<Heard> {
  const authorization = mocks.credentials.gfaToken;
  return ask('GET', `${mocks.gfaUrl}/data${query}`, { headers: { authorization, ...headers } });
}

/** A group's records of a `GET /data` answer with one metrics object in an array. */
export function group(heard: Heard, name: 'volumes' | 'filers' | 'propagation' | 'locks'): readonly Fields[] {
  const [metrics] = (heard.json as { metrics: readonly Record<string, readonly Fields[]>[] }).metrics;
  return metrics?.[name] ?? [];
}

/** A new token, by user key. */
export async function signIn(mocks: MockServices): Promise<{ access: string; answer: Fields }> {
  const heard = await ask('POST', `${mocks.portalUrl}/auth/token`, {
    headers: { 'x-user-key': mocks.credentials.userKey },
  });
  const answer = heard.json as Fields;
  return { access: String(answer.access_token), answer };
}

/** An inventory operation with a new token. */
export async function get(mocks: MockServices, path: string): Promise<Heard> {
  const { access } = await signIn(mocks);
  return ask('GET', `${mocks.portalUrl}${path}`, { headers: { authorization: `Bearer ${access}` } });
}

/** A telemetry operation with a new token. */
export async function telemetry(
  mocks: MockServices,
  serial: string,
  segment: string,
  body: Fields = { period: 'PT15M', bin_size: 60 },
): Promise<Heard> {
  const { access } = await signIn(mocks);
  return ask('POST', `${mocks.portalUrl}/telemetry/appliances/${serial}/${segment}`, {
    headers: { authorization: `Bearer ${access}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

/** The items of a list answer. */
export function items(heard: Heard): readonly Fields[] {
  return (heard.json as { items: readonly Fields[] }).items;
}

/** The serial of the appliance of a name. */
export function serialOf(mocks: MockServices, title: string): string {
  const found = mocks.fleet.appliances.find((appliance) => appliance.title === title);
  if (found === undefined) throw new Error(`no appliance ${title}`);
  return found.serial;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
