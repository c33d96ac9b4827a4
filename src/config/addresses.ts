import { isIPv4, isIPv6 } from 'node:net';
import { bad, entriesOf, good, type Kind, quoted } from './kind.ts';

/**
 * The base URL of an API, without a slash behind it. Values that may hold a password or a token (an `@`, a query) are
 * refused without being quoted.
 */
export function baseUrl(endsIn: string): Kind<string> {
  const ending = endsIn === '' ? '' : ` ending in ${endsIn}`;
  return {
    label: `URL${ending}`,
    expects: `an http or https URL${ending}, without credentials or query, such as https://api.example.com${endsIn}`,
    parse: (text) => {
      if (text.includes('@')) return bad('the value has a user name or password in it');
      if (/[?#]/.test(text)) return bad('the value has a query or fragment in it');
      // WHATWG parsing drops line breaks and takes `http:host` too; here a URL is what it looks like.
      if (/[\s\p{Cc}\\]/u.test(text) || !URL.canParse(text)) return bad(`${quoted(text)} is not a URL`);
      if (!/^https?:\/\/[^/]/i.test(text)) return bad(`${quoted(text)} is not an http or https URL`);
      const { origin, pathname } = new URL(text);
      const url = `${origin}${pathname}`.replace(/\/+$/, '');
      return url.endsWith(endsIn) ? good(url) : bad(`${quoted(text)} does not end in ${endsIn}`);
    },
  };
}

/** Where the server listens: `host:port`, `[v6]:port`, or `:port` for all addresses. */
export const listenAddress: Kind<{ readonly host: string | undefined; readonly port: number }> = {
  label: 'host:port',
  expects: 'host:port, [v6]:port or :port, such as :9989',
  parse: (text) => {
    const [address, v6, name, portText] = /^(?:\[([^\]]+)\]|([\w.-]+))?:(\d{1,5})$/.exec(text) ?? [];
    if (address === undefined) return bad(`${quoted(text)} is not a listen address`);
    if (v6 !== undefined && !isIPv6(v6)) return bad(`${quoted(text)} has no IPv6 address in its brackets`);
    if (name !== undefined && /^[\d.]+$/.test(name) && !isIPv4(name)) return bad(`${quoted(text)} has no IPv4 address`);
    const port = Number(portText);
    return port > 65_535 ? bad(`${quoted(text)} has a port above 65535`) : good({ host: v6 ?? name, port });
  },
};

/** The paths that answer something else. */
const TAKEN_PATHS = ['', '/healthz', '/readyz', '/status', '/api'];

/** The path of the exposition. Only what a request line shows unchanged: `/a/../b` or a blank would never match. */
export const metricsPath: Kind<string> = {
  label: 'path',
  expects: 'a path such as /metrics, without a query and not one that the exporter itself answers',
  parse: (text) => {
    if (!text.startsWith('/')) return bad(`${quoted(text)} does not start with /`);
    if (/[?#]/.test(text)) return bad(`${quoted(text)} has a query or fragment in it`);
    const base = 'http://localhost';
    if (!URL.canParse(base + text) || new URL(text, base).pathname !== text) {
      return bad(`${quoted(text)} is not a plain path`);
    }
    const bare = text.replace(/\/+$/, '');
    return TAKEN_PATHS.includes(bare) || bare.startsWith('/api/') ? bad(`${quoted(text)} is taken`) : good(text);
  },
};

/** The paths that tell nothing but how the process is. */
export const PROBE_PATHS = ['/healthz', '/readyz'] as const;

/** Some of the paths for probes, or none of them. */
export const openPaths: Kind<readonly string[]> = {
  label: 'list of paths',
  expects: `a comma-separated list of ${PROBE_PATHS.join(', ')}, or none`,
  parse: (text) => {
    const paths = [...new Set(entriesOf(text))];
    if (text.trim() === 'none') return good([]);
    const strange = paths.find((path) => !PROBE_PATHS.some((probe) => probe === path));
    if (strange !== undefined) return bad(`${quoted(strange)} is not one of them`);
    return paths.length === 0 ? bad(`${quoted(text)} is an empty list`) : good(paths);
  },
};

/**
 * Whether a URL's host is this machine: `localhost`, 127.0.0.0/8 or ::1. A name below `localhost`, or that one with a dot
 * behind it, is in no hosts file, and many a system asks the network who that is.
 */
export function isLoopback(url: string): boolean {
  const { hostname } = new URL(url);
  return /^(?:localhost|127(?:\.\d+){3}|\[::(?:1|ffff:7f[\da-f]{2}:[\da-f]{1,4})\])$/.test(hostname);
}

/** The headers that are set elsewhere, or that the connection is made of. */
const TAKEN_HEADERS = [
  ...['accept', 'accept-encoding', 'authorization', 'connection', 'content-length', 'content-type', 'expect', 'host'],
  ...['keep-alive', 'proxy-authorization', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'user-agent'],
];

/** The name of a header that the exporter adds. */
export const headerName: Kind<string> = {
  label: 'header name',
  expects: 'the name of a header that is not otherwise in use, such as X-Service-client-key',
  parse: (text) => {
    if (!/^[!#$%&'*+.^_`|~\w-]+$/.test(text)) return bad(`${quoted(text)} is not a header name`);
    return TAKEN_HEADERS.includes(text.toLowerCase()) ? bad(`${quoted(text)} is already in use`) : good(text);
  },
};
