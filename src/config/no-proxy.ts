import { BlockList, isIP } from 'node:net';
import { domainToASCII } from 'node:url';
import { isLoopback } from './addresses.ts';
import type { ProxyConfig, ProxyUrl } from './config.ts';

/**
 * Whether to use a proxy: NO_PROXY as documented by Go's golang.org/x/net/http/httpproxy, because most programs around
 * an exporter read it so. In addition, IPv6 addresses may be in brackets without a port, and a trailing dot of a name
 * is ignored on both sides. No name is resolved: an address in NO_PROXY only matches URLs with that address. undici's
 * EnvHttpProxyAgent cannot replace it: it knows no networks, sends this machine's requests to the proxy, and reads the
 * environment by itself.
 */

/** The proxy for requests below this URL; undefined for none. Never a proxy for this machine. */
export function proxyFor(url: string, proxy: ProxyConfig | undefined): ProxyUrl | undefined {
  if (proxy === undefined || isLoopback(url) || isExempt(url, proxy.noProxy ?? '')) return undefined;
  return url.startsWith('https:') ? (proxy.httpsProxy ?? proxy.httpProxy) : proxy.httpProxy;
}

function isExempt(url: string, noProxy: string): boolean {
  const { hostname, port, protocol } = new URL(url);
  const destinationPort = port || (protocol === 'https:' ? '443' : '80');
  return noProxy.split(',').some((entry) => matches(entry, bare(hostname), destinationPort));
}

function matches(entry: string, host: string, port: string): boolean {
  if (entry === '*') return true;
  const [, network = '', bits] = /^(.+)\/(\d{1,3})$/.exec(entry) ?? [];
  if (bits !== undefined) return isWithin(host, bare(network), Number(bits));
  // The colons of an IPv6 address without brackets do not separate a port. As in Go, a colon without a number means
  // every port.
  const [, name = entry, wantedPort] = familyOf(entry) === undefined ? (/^(.+?)(?::(\d*))?$/.exec(entry) ?? []) : [];
  if (wantedPort && wantedPort !== port) return false;
  const family = familyOf(bare(name));
  return family === undefined ? isNamed(host, name) : isWithin(host, bare(name), BITS[family]);
}

/** A name matches itself and all names below it; with a dot, or a star and a dot, before it only the names below it. */
function isNamed(host: string, entry: string): boolean {
  if (familyOf(host) !== undefined) return false;
  const name = bare(entry.replace(BELOW, ''));
  return host.endsWith(`.${name}`) || (host === name && !BELOW.test(entry));
}

const BELOW = /^\*?\./;

/** Whether a host is an address of this network. An invalid network matches nothing. */
function isWithin(host: string, network: string, bits: number): boolean {
  const [family, hostFamily] = [familyOf(network), familyOf(host)];
  if (family === undefined || hostFamily === undefined || bits > BITS[family]) return false;
  // As in Go: `::/0` is every IPv6 address and no IPv4 address.
  if (family === 'ipv6' && bits < 96 && IPV4_MAPPED.check(host, hostFamily)) return false;
  const addresses = new BlockList();
  addresses.addSubnet(network, bits, family);
  return addresses.check(host, hostFamily);
}

/** How a list of addresses compares IPv4 addresses with IPv6 addresses. */
const IPV4_MAPPED = new BlockList();
IPV4_MAPPED.addSubnet('::ffff:0:0', 96, 'ipv6');

const BITS = { ipv4: 32, ipv6: 128 } as const;

/** Undefined for names, and for addresses with a zone, which no URL can have. */
function familyOf(host: string): keyof typeof BITS | undefined {
  if (host.includes('%')) return undefined;
  return isIP(host) === 4 ? 'ipv4' : isIP(host) === 6 ? 'ipv6' : undefined;
}

/** Writes a host as a URL does: in lower case and ASCII, without brackets or a trailing dot. */
function bare(host: string): string {
  const inner = host.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
  return /\P{ASCII}/u.test(inner) ? domainToASCII(inner) : inner.toLowerCase();
}
