import { BlockList, isIP } from 'node:net';
import { domainToASCII } from 'node:url';
import { isLoopback } from './addresses.ts';
import type { ProxyConfig, ProxyUrl } from './config.ts';

/*
 * Which way to a service: NO_PROXY as Go's golang.org/x/net/http/httpproxy documents it, for the programs around this
 * one read it so. Beyond that, IPv6 addresses may stand in brackets without a port, and a dot behind a name is no part
 * of it, on either side. No name is resolved: an address in NO_PROXY is about URLs with that address.
 */

/** The proxy that requests below this URL go through; undefined for none. What is on this machine is never asked through one. */
export function proxyFor(url: string, proxy: ProxyConfig | undefined): ProxyUrl | undefined {
  if (proxy === undefined || isLoopback(url) || isExempt(url, proxy.noProxy ?? '')) return undefined;
  return url.startsWith('https:') ? (proxy.httpsProxy ?? proxy.httpProxy) : proxy.httpProxy;
}

/** Where a URL leads, as the entries of NO_PROXY are held against it. */
interface Destination {
  /** A name in lower case, or an address without brackets. */
  readonly host: string;
  readonly port: string;
}

function isExempt(url: string, noProxy: string): boolean {
  const { hostname, port, protocol } = new URL(url);
  const destination = { host: bare(hostname), port: port || (protocol === 'https:' ? '443' : '80') };
  return noProxy.split(',').some((entry) => matches(entry, destination));
}

function matches(entry: string, { host, port }: Destination): boolean {
  if (entry === '*') return true;
  const [, network = '', bits] = /^(.+)\/(\d{1,3})$/.exec(entry) ?? [];
  if (bits !== undefined) return isWithin(host, bare(network), Number(bits));
  // The colons of a bare IPv6 address separate no port.
  const [, name = entry, wantedPort] = familyOf(entry) === undefined ? (/^(.+?)(?::(\d+))?$/.exec(entry) ?? []) : [];
  if (wantedPort !== undefined && wantedPort !== port) return false;
  const family = familyOf(bare(name));
  return family === undefined ? isNamed(host, name) : isWithin(host, bare(name), BITS[family]);
}

/** A name stands for itself and all below it; with a dot, or a star and a dot, before it only for those below. */
function isNamed(host: string, entry: string): boolean {
  if (familyOf(host) !== undefined) return false;
  const name = bare(entry.replace(BELOW, ''));
  return host.endsWith(`.${name}`) || (host === name && !BELOW.test(entry));
}

const BELOW = /^\*?\./;

/** Whether a host is an address of this network. A network that is none holds nothing. */
function isWithin(host: string, network: string, bits: number): boolean {
  const [family, hostFamily] = [familyOf(network), familyOf(host)];
  if (family === undefined || hostFamily === undefined || bits > BITS[family]) return false;
  const addresses = new BlockList();
  addresses.addSubnet(network, bits, family);
  return addresses.check(host, hostFamily);
}

const BITS = { ipv4: 32, ipv6: 128 } as const;

/** Undefined for names, and for addresses with a zone, which no URL can have. */
function familyOf(host: string): keyof typeof BITS | undefined {
  if (host.includes('%')) return undefined;
  return isIP(host) === 4 ? 'ipv4' : isIP(host) === 6 ? 'ipv6' : undefined;
}

/** As the host of a URL is written: in lower case and ASCII, without brackets or a dot behind it. */
function bare(host: string): string {
  const inner = host.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
  return /\P{ASCII}/u.test(inner) ? domainToASCII(inner) : inner.toLowerCase();
}
