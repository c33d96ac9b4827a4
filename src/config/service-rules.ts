import { isLoopback } from './addresses.ts';
import type { Rows } from './table.ts';
import { isSecret, type ServiceSection, type SetVariables } from './table.ts';

/** Rules for all services: at least one is set, no secret is set for a disabled one, none is sent unencrypted. */
export function serviceErrors(services: readonly ServiceSection[], given: SetVariables<Rows>): readonly string[] {
  return [
    ...noneErrors(services, given),
    ...services.flatMap((service) => [...strayErrors(service, given), ...insecureErrors(service.url, given)]),
  ];
}

function noneErrors(services: readonly ServiceSection[], { isSet }: SetVariables<Rows>): readonly string[] {
  const [first, ...others] = services.map(({ url }) => url);
  if (first === undefined || services.some(({ url }) => isSet(url))) return [];
  return [`${first}: is not set and neither is ${others.join(' nor ')}; expected at least one of them`];
}

/** A secret for a service without a URL is a typing error in the URL, or a leftover. */
function strayErrors({ url, rows }: ServiceSection, { isSet }: SetVariables<Rows>): readonly string[] {
  if (isSet(url)) return [];
  return rows.flatMap(({ name, row }) =>
    isSecret(row) && isSet(name) ? [`${name}: is set but ${url} is not; expected both or neither`] : [],
  );
}

/** Keys and tokens may be sent unencrypted only within this machine, unless the operator allows it. */
export function insecureErrors(name: string, { values }: SetVariables<Rows>): readonly string[] {
  const url = values[name];
  if (values.ALLOW_INSECURE_UPSTREAM !== false || typeof url !== 'string') return [];
  if (url.startsWith('https:') || isLoopback(url)) return [];
  const expected = 'expected https, or ALLOW_INSECURE_UPSTREAM=true to send keys and tokens unencrypted';
  return [`${name}: is an http URL beyond this machine; ${expected}`];
}
