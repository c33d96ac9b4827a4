import { MockAgent } from 'undici';
import { expect, test } from 'vitest';
import { createRemoteWrite } from '../../../src/app/remote-write.ts';
import { portal } from '../../../src/services/portal/service.ts';
import type { ConfiguredService } from '../../../src/services/services.ts';
import { keptLog } from '../../harness/kept-log.ts';
import { configOf, type Files, portalOnly, type Variables } from '../../harness/load-config.ts';
import { ManualClock } from '../../harness/manual-clock.ts';

const MINUTE = 60_000;
const TASK = { id: 'portal/a/cpu_utilization', api: 'portal' };
const SECRETS = {
  REMOTE_WRITE_URL: 'https://receiver.test/tenant/write',
  REMOTE_WRITE_TOKEN_FILE: '/token',
  REMOTE_WRITE_HEADERS: 'X-Scope-OrgID=tenant-7',
};

/** Remote write as the program builds it, with a receiver that returns these statuses and keeps the headers of the requests. */
async function sending(variables: Variables, files: Files = {}, statuses: readonly number[] = [204]) {
  const config = await configOf({ ...portalOnly, ...variables }, files);
  const [clock, { log, lines }] = [new ManualClock(), keptLog()];
  const seen: Record<string, string>[] = [];
  const agent = new MockAgent();
  agent.disableNetConnect();
  const receiver = agent.get('https://receiver.test');
  for (const status of statuses) {
    receiver.intercept({ path: '/tenant/write', method: 'POST' }).reply(({ headers }) => {
      seen.push(headers as Record<string, string>);
      const location = 'https://user:canary@other.test/write?token=canary';
      return { statusCode: status, responseOptions: { headers: { location } }, data: 'token-canary is unknown' };
    });
  }
  const services = [{ api: 'portal', service: portal, settings: config.portal }] as unknown as ConfiguredService[];
  const own = { version: '1.0.0', revision: '', nodeVersion: '' };
  const remote = createRemoteWrite(config, services, { ...own, clock, random: () => 0.5, log, connect: () => agent });
  if (remote === undefined) throw new Error('remote write is not configured');
  const since = remote.minutesSince({ ...TASK, now: () => clock.now() }) ?? 0;
  const bin = { at: clock.now() - 12 * MINUTE, samples: () => [{ name: 'filer_cpu', labels: {}, value: 1 }] };
  remote.accept(TASK.id, { bins: [bin], now: clock.now(), until: clock.now() });
  const flush = () => remote.flush(new AbortController().signal);
  return { flush, seen, lines, sinceMinutesAgo: (clock.now() - since) / MINUTE };
}

test('a request has the token and the headers of the configuration, and a token that has changed is read after a 401', async () => {
  const files: Files = { '/token': 'token-canary' };
  const { flush, seen, lines } = await sending(SECRETS, files, [401, 204]);
  files['/token'] = 'token-changed';
  await flush();
  await flush();
  expect(seen[0]).toMatchObject({
    authorization: 'Bearer token-canary',
    'x-scope-orgid': 'tenant-7',
    'user-agent': 'filer-exporter/1.0.0',
    'content-encoding': 'snappy',
  });
  expect(seen[1]).toMatchObject({ authorization: 'Bearer token-changed' });
  expect(JSON.stringify(lines)).not.toContain('canary');
});

test('a redirect is not followed, and the log says where it leads, without what may be a secret', async () => {
  const { flush, lines } = await sending({ REMOTE_WRITE_URL: SECRETS.REMOTE_WRITE_URL }, {}, [301]);
  await flush();
  expect(lines).toMatchObject([{ response: '301: redirects to https://other.test/write' }]);
});

test.each([
  ['the usual period', {}, 14],
  ['the usual period, because the next start would be a first one again', { REMOTE_WRITE_CATCH_UP: '30d' }, 14],
  ['the usual period, because nobody asked for more', { STATE_FILE: '/state' }, 14],
  ['all that the service has, but an hour', { REMOTE_WRITE_CATCH_UP: '30d', STATE_FILE: '/state' }, 30 * 1_440 - 61],
])('a first start reads %s', async (_, variables, minutes) => {
  const { sinceMinutesAgo } = await sending({ REMOTE_WRITE_URL: SECRETS.REMOTE_WRITE_URL, ...variables });
  expect(sinceMinutesAgo).toBe(minutes);
});
