import { expect, test } from 'vitest';
import { errorsOf } from './surroundings.ts';

const receiver = { REMOTE_WRITE_URL: 'http://127.0.0.1:9090/api/v1/write' };
const gfa = { GFA_URL: 'https://gfa.example.com/v1', GFA_TOKEN: 'token' };
const portal = { PORTAL_URL: 'https://portal.example.com', PORTAL_USER_KEY: 'key' };

test.each([
  ['without the portal', gfa],
  ['without telemetry', { ...portal, PORTAL_COLLECTORS: 'volumes' }],
  ['with series that have no history', { ...portal, PORTAL_SERIES: 'appliance_health_score' }],
])('remote write %s has nothing to send, which is a configuration error', (_, environment) => {
  expect(errorsOf({ ...environment, ...receiver })).toEqual([
    'REMOTE_WRITE_URL: is set, but nothing that is polled has a history; expected PORTAL_URL, and telemetry in PORTAL_COLLECTORS',
  ]);
});

test('remote write with the telemetry of the portal is valid', () => {
  expect(errorsOf({ ...portal, ...receiver })).toEqual([]);
});
