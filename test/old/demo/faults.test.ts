import { request } from 'undici';
import { expect, test } from 'vitest';
import { startMockServices } from '../../src/demo/mock-services.ts';
import { MINUTE_MS } from '../../src/demo/world/waveforms.ts';
import { ManualClock, settle } from '../support/manual-clock.ts';
import { MemoryDispatcher } from '../support/memory-dispatcher.ts';
import { ask, data, start } from './ask.ts';

test('closing ends at once, whatever is open', async () => {
  const clock = new ManualClock();
  const mocks = await startMockServices({ clock });
  mocks.fail({ kind: 'hang', operation: 'health' });
  mocks.fail({ kind: 'drip', operation: 'data' });
  const refused = [
    expect(ask('GET', `${mocks.portalUrl}/health`)).rejects.toThrow(),
    expect(data(mocks)).rejects.toThrow(),
  ];
  while (clock.sleeping === 0 || mocks.requests.length < 2) await settle();
  await mocks.close();
  await Promise.all(refused);
  await clock.advance(MINUTE_MS);
  expect(clock.sleeping).toBe(0);
});

test('only the newest 10,000 requests are remembered, with what they said', async () => {
  const { mocks } = await start({ variations: { rateLimit: null } });
  await ask('POST', `${mocks.portalUrl}/auth/token`, { headers: { 'x-user-key': 'me' } });
  expect(mocks.requests.at(-1)).toMatchObject({ operation: 'token', body: '', headers: { 'x-user-key': 'me' } });
  const dispatcher = new MemoryDispatcher(mocks.serve);
  for (let sent = 0; sent < 10_000; sent += 1) {
    const { body } = await request(`${mocks.portalUrl}/health`, { dispatcher });
    await body.dump();
  }
  expect(mocks.requests).toHaveLength(10_000);
  expect(mocks.requests[0]?.operation).toBe('health');
});
