import { isIPv4, isIPv6 } from 'node:net';
import { type Format, invalid, quoted, valid } from './format.ts';

/** Matches a fragment, and the names that receivers use for credentials in a query. */
const CREDENTIALS = /#|[?&](?:u|p|user|username|pass|password|token|key|api_?key|access_token|secret)=/i;

/**
 * The base URL of an API, without a slash at the end. A value that may contain a password or a token (an `@`, a query)
 * is rejected and not quoted.
 */
export function baseUrl(endsIn: string, mayHaveQuery = false): Format<string> {
  const without = mayHaveQuery ? 'credentials' : 'credentials or query';
  const ending = endsIn === '' ? '' : ` ending in ${endsIn}`;
  return {
    label: mayHaveQuery ? 'URL with or without a query' : `URL${ending}`,
    expects: `an http or https URL${ending}, without ${without}, such as https://api.example.com${endsIn}`,
    parse: (text) => {
      if (text.includes('@')) return invalid('the value contains a user name or password');
      if (mayHaveQuery ? CREDENTIALS.test(text) : /[?#]/.test(text))
        return invalid(
          `the value contains ${mayHaveQuery ? 'credentials in its query, or a fragment' : 'a query or fragment'}`,
        );
      // WHATWG parsing removes line breaks and accepts `http:host`; only plain URLs are accepted here.
      if (/[\s\p{Cc}\\]/u.test(text) || !URL.canParse(text)) return invalid(`${quoted(text)} is not a URL`);
      if (!/^https?:\/\/[^/]/i.test(text)) return invalid(`${quoted(text)} is not an http or https URL`);
      const { origin, pathname, search } = new URL(text);
      const url = `${origin}${pathname}`.replace(/\/+$/, '') + search;
      return url.endsWith(endsIn) ? valid(url) : invalid(`${quoted(text)} does not end in ${endsIn}`);
    },
  };
}

export const listenAddress: Format<{ readonly host: string | undefined; readonly port: number }> = {
  label: 'host:port',
  expects: 'host:port, [v6]:port or :port, such as :9989',
  parse: (text) => {
    const [address, v6, name, portText] = /^(?:\[([^\]]+)\]|([\w.-]+))?:(\d{1,5})$/.exec(text) ?? [];
    if (address === undefined) return invalid(`${quoted(text)} is not a listen address`);
    if (v6 !== undefined && !isIPv6(v6)) return invalid(`${quoted(text)} has no IPv6 address in the brackets`);
    if (name !== undefined && /^[\d.]+$/.test(name) && !isIPv4(name))
      return invalid(`${quoted(text)} has an invalid IPv4 address`);
    const port = Number(portText);
    return port > 65_535 ? invalid(`${quoted(text)} has a port above 65535`) : valid({ host: v6 ?? name, port });
  },
};

const TAKEN_PATHS = ['', '/healthz', '/readyz', '/-/healthy', '/-/ready', '/status', '/api'];

/**
 * The path of the exposition. It must reach the server unchanged: `/a/../b` or a path with a space would never match.
 */
export const metricsPath: Format<string> = {
  label: 'path',
  expects: 'a path such as /metrics, without a query and not used by another page',
  parse: (text) => {
    if (!text.startsWith('/')) return invalid(`${quoted(text)} does not start with /`);
    if (/[?#]/.test(text)) return invalid(`${quoted(text)} contains a query or fragment`);
    const base = 'http://localhost';
    if (!URL.canParse(base + text) || new URL(text, base).pathname !== text) {
      return invalid(`${quoted(text)} is not a plain path`);
    }
    const bare = text.replace(/\/+$/, '');
    return TAKEN_PATHS.includes(bare) || bare.startsWith('/api/')
      ? invalid(`${quoted(text)} is used by another page`)
      : valid(text);
  },
};

/**
 * Whether a URL's host is this machine: `localhost`, 127.0.0.0/8 or ::1. Names below `localhost`, or with a trailing
 * dot, are in no hosts file, so some systems look them up in the network.
 */
export function isLoopback(url: string): boolean {
  const { hostname } = new URL(url);
  return /^(?:localhost|127(?:\.\d+){3}|\[::(?:1|ffff:7f[\da-f]{2}:[\da-f]{1,4})\])$/.test(hostname);
}

/** The exporter or its HTTP client sets these headers for each request; another value would break the request. */
export const RESERVED_HEADERS = [
  ...['Host', 'User-Agent', 'Content-Length', 'Transfer-Encoding', 'Connection', 'Keep-Alive', 'Upgrade', 'Expect'],
] as const;

/** In requests to a service the exporter sets these too. */
const TAKEN_HEADERS = new Set([
  ...RESERVED_HEADERS.map((name) => name.toLowerCase()),
  ...['accept', 'accept-encoding', 'authorization', 'content-type', 'proxy-authorization', 'te', 'trailer'],
]);

export const HEADER_NAME = /^[!#$%&'*+.^_`|~\w-]+$/;

export const headerName: Format<string> = {
  label: 'header name',
  expects: 'the name of a header that the exporter does not use already, such as X-Service-client-key',
  parse: (text) => {
    if (!HEADER_NAME.test(text)) return invalid(`${quoted(text)} is not a header name`);
    return TAKEN_HEADERS.has(text.toLowerCase()) ? invalid(`${quoted(text)} is already in use`) : valid(text);
  },
};
