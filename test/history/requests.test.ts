import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import type { StandIn } from '../../src/demo/stand-in.ts';
import { clock, exporter, portalEnvironment, services, until } from '../support/live.ts';
import { settle } from '../support/manual-clock.ts';

const HOUR_MS = 3_600_000;

/** How often each operation was asked for, but for tokens. */
function counted({ requests }: StandIn): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { operation, path } of requests) {
    if (!path.startsWith('/auth/')) counts[operation] = (counts[operation] ?? 0) + 1;
  }
  return counts;
}

test('the portal gets the same requests with remote write as without', async () => {
  let taken = 0;
  const receiver = createServer((request, response) => {
    request.resume().on('end', () => {
      taken += 1;
      response.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    receiver.closeAllConnections();
    receiver.close();
  });
  const { port } = receiver.address() as AddressInfo;
  const [without, sending] = [await services({ appliances: 1 }), await services({ appliances: 1 })];
  const usual = { PORTAL_INTERVAL: '5m', PORTAL_DISCOVERY_INTERVAL: '15m', PORTAL_COLLECTORS: 'telemetry' };
  await exporter({ ...portalEnvironment(without), ...usual });
  const remote = { REMOTE_WRITE_URL: `http://127.0.0.1:${port}/write`, REMOTE_WRITE_LABELS: 'job=j' };
  await exporter({ ...portalEnvironment(sending), ...usual, ...remote });
  // The receiver is reached over a real connection, for which the clock does not wait.
  for (let elapsed = 0; elapsed < HOUR_MS; elapsed += 10_000) {
    await clock.advance(10_000);
    await settle();
  }
  await until('something to be sent', () => taken > 0);
  const counts = counted(without);
  expect(counts.cpu_utilization).toBeGreaterThan(11);
  expect(counted(sending)).toEqual(counts);
});
