// Only here: what follows from each code at each operation. Which bytes give a code is in test/transport/wire.test.ts.
import { describe, expect, test } from 'vitest';
import type { FaultEffect, SimulatedFailure } from '../../src/demo/faults.ts';
import type { MockServices } from '../../src/demo/mock-services.ts';
import { clock, exporter, gfaEnvironment, type Live, portalEnvironment, services, until } from '../support/live.ts';
import type { Scrape } from '../support/scrape.ts';

const APPLIANCES = 3;
const INTERVAL_SECONDS = 10;

/** Each kind of fault with the label `code` that counts it. */
const faults: Readonly<Record<string, { readonly code: string; readonly effect: FaultEffect }>> = {
  'a connection that is closed': { code: 'network', effect: { kind: 'reset' } },
  'half an answer': { code: 'network', effect: { kind: 'cut' } },
  'no answer': { code: 'timeout', effect: { kind: 'hang' } },
  'an answer that stops': { code: 'timeout', effect: { kind: 'hang-body' } },
  'a page in HTML': { code: 'invalid', effect: { kind: 'body', body: '<!doctype html>', contentType: 'text/html' } },
  'a list instead of an object': { code: 'invalid', effect: { kind: 'body', body: '[]' } },
  'a body that is too large': { code: 'oversize', effect: { kind: 'body', body: ' '.repeat(5_000_000) } },
  400: { code: '400', effect: { kind: 'status', status: 400 } },
  403: { code: '403', effect: { kind: 'status', status: 403 } },
  429: { code: '429', effect: { kind: 'status', status: 429, headers: { 'retry-after': '5' } } },
  500: { code: '500', effect: { kind: 'status', status: 500 } },
  503: { code: '503', effect: { kind: 'status', status: 503 } },
};

/** Where they are met: what the label `operation` says, and within how many intervals all is well again. */
const places = {
  data: { label: 'data', intervals: 3 },
  // Appliances are down after forty seconds, and up again with their second record: there is one in five minutes.
  token: { label: 'token', intervals: 36 },
  serials: { label: 'serials', intervals: 3 },
  edges: { label: 'edges', intervals: 3 },
  cpu_utilization: { label: 'cpu_utilization', intervals: 3 },
} as const;

type Operation = keyof typeof places;
const operations = Object.keys(places) as readonly Operation[];

/** Every third, another third for each operation: of each way to fail one. */
function errorsOf(operation: Operation): readonly string[] {
  const names = Object.keys(faults);
  return names.filter((_, index) => index % 3 === operations.indexOf(operation) % 3);
}

describe.each(operations)('%s meets', (operation) => {
  const { label, intervals } = places[operation];
  const api = operation === 'data' ? 'gfa' : 'portal';

  test.each(errorsOf(operation))(
    '%s: it is counted, the other service goes on, and all is well afterwards',
    async (name) => {
      const { code, effect } = faults[name] ?? expect.fail(name);
      const { mocks, live } = await whole();
      const counted = async () => {
        const scrape = await live.scrape();
        return scrape.sum('filer_exporter_requests_total', { api, operation: label, code });
      };
      const lift = mocks.fail({ ...effect, operation, ...once(code) });
      const unprovoke = operation === 'token' ? mocks.fail(refusal) : () => {};
      await until('the fault to be counted', async () => (await counted()) > 0);
      unprovoke();
      const others = () => mocks.requests.filter(({ service }) => service !== api).length;
      const before = others();
      await clock.advance(3 * INTERVAL_SECONDS * 1000);
      expect(others()).toBeGreaterThan(before);

      lift();
      const lifted = clock.monotonic();
      await until('all to be well', async () => illness(await live.scrape()) === undefined);
      expect(clock.monotonic() - lifted).toBeLessThanOrEqual(intervals * INTERVAL_SECONDS * 1000);
      expect(live.log.filter(({ msg }) => msg.startsWith('internal error'))).toEqual([]);
    },
  );
});

/** Makes the exporter ask for a new token. */
const refusal: SimulatedFailure = { kind: 'status', status: 401, operation: /^(?!token$|data$)/ };

/** A 429 is answered once: each further one would double the time that nothing is sent. */
function once(code: string): Pick<SimulatedFailure, 'times'> {
  return code === '429' ? { times: 1 } : {};
}

/** An exporter that has polled everything once. */
async function whole(): Promise<{ readonly mocks: MockServices; readonly live: Live }> {
  const mocks = await services({ appliances: APPLIANCES, variations: { tokenLifetimeMs: 60_000 } });
  const environment = { ...gfaEnvironment(mocks), ...portalEnvironment(mocks) };
  const live = await exporter({ ...environment, REQUEST_TIMEOUT: '5s', MAX_RESPONSE_BYTES: '4000000' });
  await until('all to be well', async () => illness(await live.scrape()) === undefined);
  return { mocks, live };
}

/** What is missing; undefined when all is well. */
function illness(scrape: Scrape): string | undefined {
  const wanted = { filer_api_up: 2, filer_appliance_up: APPLIANCES, filer_exporter_tasks_suspended: 0 };
  const missing = Object.entries(wanted).find(([name, sum]) => scrape.sum(name) !== sum);
  if (missing !== undefined) return missing[0];
  const values = scrape.all('filer_appliance_cpu_utilization_ratio').length;
  return values === APPLIANCES ? undefined : 'an appliance lacks a series';
}
