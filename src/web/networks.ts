import { isIPv4, isIPv6 } from 'node:net';

/**
 * The networks of an address, the widest first and the narrowest, which is one client's, last: for IPv4 the /16, the
 * /24 and the address, for IPv6 the /48 and the /64. A text that is not an address is its own network.
 */
export function networksOf(address: string): readonly string[] {
  const mapped = address.replace(/^::ffff:(?=[\d.]+$)/i, '');
  if (isIPv4(mapped)) {
    const parts = mapped.split('.');
    return [parts.slice(0, 2).join('.'), parts.slice(0, 3).join('.'), mapped];
  }
  if (!isIPv6(address)) return [address];
  const groups = groupsOf(address);
  return [groups.slice(0, 3).join(':'), groups.slice(0, 4).join(':')];
}

/** The eight groups of an IPv6 address, each in its shortest form. */
function groupsOf(address: string): readonly string[] {
  const [front = '', back = ''] = address.replace(/%.*$/, '').split('::');
  const [before, after] = [front, back].map((half) => half.split(':').filter((group) => group !== ''));
  const zeros = Array<string>(8 - (before?.length ?? 0) - (after?.length ?? 0)).fill('0');
  return [...(before ?? []), ...zeros, ...(after ?? [])].map((group) => Number.parseInt(group, 16).toString(16));
}
