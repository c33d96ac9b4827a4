import { isIPv6 } from 'node:net';
import { shortAddress } from './certificates.ts';

/** What counts as one client: an address of IPv4, a /64 of IPv6, which is what one customer has. */
export function clientOf(address: string): string {
  const bare = address.replace(/%.*$/, '').replace(/^::ffff:(?=[\d.]+$)/i, '');
  if (!isIPv6(bare)) return bare;
  const [front = '', back] = shortAddress(bare).split('::');
  const groups = (text: string) => text.split(':').filter((group) => group !== '');
  const after = groups(back ?? '');
  const zeros = back === undefined ? [] : Array<string>(8 - groups(front).length - after.length).fill('0');
  return [...groups(front), ...zeros, ...after].slice(0, 4).join(':');
}
