import { isLoopback } from './addresses.ts';
import type { Texts } from './environment.ts';
import { type Fault, fault, type Given, type Rows, type ServiceSection } from './section.ts';

/** The lines about what holds for every service: that there is one, that no secret is left over, that none is in the clear. */
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

/** A secret for a service that is off is a slip in the URL, or a secret lying about. */
function strayFaults({ url, rows }: ServiceSection, { isSet }: Given<Rows>): readonly Fault[] {
  if (isSet(url)) return [];
  return rows.flatMap(({ name, row }) =>
    row.secret && isSet(name) ? [fault(name, `is set but ${url} is not; expected both or neither`)] : [],
  );
}

/** Keys and tokens in the clear are for this machine alone, unless the operator says otherwise. */
function insecureFaults({ url: name }: ServiceSection, { values }: Given<Rows>): readonly Fault[] {
  const url = values[name];
  if (values.ALLOW_INSECURE_UPSTREAM !== false || typeof url !== 'string') return [];
  if (url.startsWith('https:') || isLoopback(url)) return [];
  const expected = 'expected https, or ALLOW_INSECURE_UPSTREAM=true to send keys and tokens in the clear';
  return [fault(name, `is an http URL beyond this machine; ${expected}`)];
}

/** Node's own switches, which are not ours to define but to refuse where they would not do what somebody believes. */
export function nodeFaults(texts: Texts): readonly Fault[] {
  if (texts.get('NODE_TLS_REJECT_UNAUTHORIZED') !== '0') return [];
  const expected =
    'expected to be unset: certificates are always checked; add your own authority with NODE_EXTRA_CA_CERTS';
  return [{ variable: undefined, line: `NODE_TLS_REJECT_UNAUTHORIZED: is 0; ${expected}` }];
}
