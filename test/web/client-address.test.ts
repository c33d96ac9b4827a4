// Only here: an address that is written in two ways and counted as two.
import { expect, test } from 'vitest';
import { clientOf } from '../../src/web/client-address.ts';

test.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['2001:db8:0:1::7', '2001:db8:0:1'],
  ['2001:0DB8:0:1:2:3:4:5', '2001:db8:0:1'],
  ['2001:db8::1', '2001:db8:0:0'],
  ['fe80::1%eth0', 'fe80:0:0:0'],
  ['::1', '0:0:0:0'],
  ['', ''],
])('%j is the client %j', (address, client) => {
  expect(clientOf(address)).toBe(client);
});
