import { isLoopback } from './addresses.ts';
import type { Texts } from './environment.ts';
import { type Fault, fault, type Given, type Rows, type ServiceSection } from './section.ts';

/** Rules for all services: at least one is set, no secret is set for a disabled one, none is sent unencrypted. */
export function serviceFaults(services: readonly ServiceSection[], given: Given<Rows>): readonly Fault[] {
  return [
    ...noneFaults(services, given),
    ...services.flatMap((service) => [...strayFaults(service, given), ...insecureFaults(service, given)]),
  ];
}

function noneFaults(services: readonly ServiceSection[], { isSet }: Given<Rows>): readonly Fault[] {
  const [first, ...others] = services.map(({ url }) => url);
  if (first === undefined || services.some(({ url }) => isSet(url))) return [];
  return [fault(first, `is not set and neither is ${others.join(' nor ')}; expected at least one of them`)];
}

/** A secret for a disabled service means a typing error in its URL, or a leftover secret. */
function strayFaults({ url, rows }: ServiceSection, { isSet }: Given<Rows>): readonly Fault[] {
  if (isSet(url)) return [];
  return rows.flatMap(({ name, row }) =>
    row.secret && isSet(name) ? [fault(name, `is set but ${url} is not; expected both or neither`)] : [],
  );
}

/** Unencrypted keys and tokens are only allowed within this machine, unless the operator decides otherwise. */
function insecureFaults({ url: name }: ServiceSection, { values }: Given<Rows>): readonly Fault[] {
  const url = values[name];
  if (values.ALLOW_INSECURE_UPSTREAM !== false || typeof url !== 'string') return [];
  if (url.startsWith('https:') || isLoopback(url)) return [];
  const expected = 'expected https, or ALLOW_INSECURE_UPSTREAM=true to send keys and tokens unencrypted';
  return [fault(name, `is an http URL beyond this machine; ${expected}`)];
}

/** Switches of Node: rejected if the exporter would ignore them. */
export function nodeFaults(texts: Texts): readonly Fault[] {
  if (texts.get('NODE_TLS_REJECT_UNAUTHORIZED') !== '0') return [];
  const expected =
    'expected to be unset: certificates are always checked; add your own certificate authority with NODE_EXTRA_CA_CERTS';
  return [{ variable: undefined, line: `NODE_TLS_REJECT_UNAUTHORIZED: is 0; ${expected}` }];
}
