import { Secret } from '../runtime/secret.ts';
import { isLoopback } from './addresses.ts';
import type { Config, ProxyConfig, ProxyUrl } from './config.ts';
import type { VariableTexts } from './table.ts';

/** The proxy variables. As with curl, the name in lower case takes precedence. */
export function proxies(texts: VariableTexts, errors: string[]): ProxyConfig | undefined {
  const urlOf = (name: string): ProxyUrl | undefined => {
    const setName = texts.has(name.toLowerCase()) ? name.toLowerCase() : name;
    const text = texts.get(setName);
    if (text === undefined) return undefined;
    const parsed = parsedProxy(text);
    if (typeof parsed !== 'string') return parsed;
    // The value is not quoted, because the URL of a proxy may contain its password.
    errors.push(`${setName}: the value ${parsed}`);
    return undefined;
  };
  const httpProxy = urlOf('HTTP_PROXY');
  const httpsProxy = urlOf('HTTPS_PROXY');
  // Spaces separate entries as commas do, and a line break must not split the line that shows them.
  const noProxy = (texts.get('no_proxy') ?? texts.get('NO_PROXY'))
    ?.split(/[\s,]+/)
    .filter(Boolean)
    .join(',');
  return httpProxy === undefined && httpsProxy === undefined ? undefined : { httpProxy, httpsProxy, noProxy };
}

/** The proxy of requests below this URL; undefined for none, as for this machine. NO_PROXY may still exempt the host. */
export function proxyFor(url: string, { proxy, timeoutMs }: Config['requests']) {
  if (proxy === undefined || isLoopback(url)) return undefined;
  const used = url.startsWith('https:') ? (proxy.httpsProxy ?? proxy.httpProxy) : proxy.httpProxy;
  return used && { ...used, noProxy: proxy.noProxy ?? '', timeoutMs };
}

const NOT_A_PROXY =
  'is not a proxy; expected an http or https URL with nothing after host and port, such as http://proxy.example.com:3128';

/** A returned string is the error. `host:port` means `http://host:port`: other programs accept it in the same variables. */
function parsedProxy(text: string): ProxyUrl | string {
  const address = /^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  if (/[\s\p{Cc}\\]/u.test(address) || !URL.canParse(address)) return NOT_A_PROXY;
  const { protocol, username, password, host, pathname, search, hash } = new URL(address);
  if (!/^https?:$/.test(protocol) || pathname !== '/' || search !== '' || hash !== '') return NOT_A_PROXY;
  const url = `${protocol}//${host}`;
  if (username === '' && password === '') return { url, authorization: undefined };
  try {
    // A user name without a password may be a token, and is sent as curl sends it.
    const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
    return { url, authorization: new Secret(`Basic ${Buffer.from(credentials).toString('base64')}`) };
  } catch {
    return 'has a % in its user name or password that does not start an encoded character; write % as %25';
  }
}
