import { isLoopback } from './addresses.ts';
import type { Fault, Texts } from './environment.ts';
import { fileVariable, rows, type Values, type VariableName, variables } from './variables.ts';

/** True where the operator has set the variable or its `NAME_FILE`, well or not. */
type IsSet = (name: VariableName) => boolean;

/** The lines about variables that do not go together. `values` lacks what is not set and what is wrong by itself. */
export function ruleFaults(texts: Texts, values: Partial<Values>): readonly Fault[] {
  const isSet: IsSet = (name) => texts.has(name) || ('file' in variables[name] && texts.has(fileVariable(name)));
  return [
    ...apiFaults(isSet),
    ...strayFaults(isSet),
    ...credentialFaults(isSet, values),
    ...insecureFaults(values),
    ...nodeFaults(texts),
    ...shardFaults(values),
  ];
}

function fault(variable: VariableName, text: string): Fault {
  return { variable, line: `${variable}: ${text}` };
}

/** How the portal is asked for a token: as the operator says, or by what there is. */
export function chosenAuth(asked: Values['PORTAL_AUTH'], hasServiceKey: boolean): NonNullable<Values['PORTAL_AUTH']> {
  return asked ?? (hasServiceKey ? 'oauth2' : 'user_key');
}

function apiFaults(isSet: IsSet): readonly Fault[] {
  if (!isSet('GFA_URL') && !isSet('PORTAL_URL')) {
    return [fault('GFA_URL', 'is not set and neither is PORTAL_URL; expected at least one of them')];
  }
  return isSet('GFA_URL') && !isSet('GFA_TOKEN')
    ? [fault('GFA_TOKEN', 'is not set; expected with GFA_URL, as itself or as GFA_TOKEN_FILE')]
    : [];
}

/** A secret for an API that is off is a slip in the API's URL, or a secret lying about. */
function strayFaults(isSet: IsSet): readonly Fault[] {
  return rows.flatMap(({ name, row }) => {
    const url = name.startsWith('GFA_') ? 'GFA_URL' : 'PORTAL_URL';
    return row.secret && isSet(name) && !isSet(url)
      ? [fault(name, `is set but ${url} is not; expected both or neither`)]
      : [];
  });
}

function credentialFaults(isSet: IsSet, { PORTAL_AUTH: asked }: Partial<Values>): readonly Fault[] {
  // An unusable PORTAL_AUTH says nothing about what it needs; its own line is enough.
  if (!isSet('PORTAL_URL') || (asked === undefined && isSet('PORTAL_AUTH'))) return [];
  const hasPair = isSet('PORTAL_SERVICE_KEY') || isSet('PORTAL_SERVICE_SECRET');
  const hasUserKey = isSet('PORTAL_USER_KEY');
  if (asked === undefined && !hasPair && !hasUserKey) {
    const wanted = 'PORTAL_SERVICE_KEY and PORTAL_SERVICE_SECRET, or PORTAL_USER_KEY';
    return [fault('PORTAL_URL', `is set without credentials; expected ${wanted}`)];
  }
  if (asked === undefined && hasPair && hasUserKey) {
    const choices = 'expected PORTAL_AUTH to choose: oauth2, service_key or user_key';
    return [fault('PORTAL_AUTH', `is not set, and there are both a service key and a user key; ${choices}`)];
  }
  const auth = chosenAuth(asked, hasPair);
  const reason = asked === undefined ? 'with the other half of the pair' : `with PORTAL_AUTH=${auth}`;
  const needed = auth === 'user_key' ? USER_KEY : SERVICE_KEY_PAIR;
  return needed
    .filter((name) => !isSet(name))
    .map((name) => fault(name, `is not set; expected ${reason}, as itself or as ${fileVariable(name)}`));
}

const USER_KEY = ['PORTAL_USER_KEY'] as const;
const SERVICE_KEY_PAIR = ['PORTAL_SERVICE_KEY', 'PORTAL_SERVICE_SECRET'] as const;

/** Keys and tokens in the clear are for this machine alone, unless the operator says otherwise. */
function insecureFaults({ ALLOW_INSECURE_UPSTREAM: isAllowed, ...values }: Partial<Values>): readonly Fault[] {
  if (isAllowed !== false) return [];
  return (['GFA_URL', 'PORTAL_URL'] as const).flatMap((name) => {
    const url = values[name];
    if (url === undefined || url.startsWith('https:') || isLoopback(url)) return [];
    const expected = 'expected https, or ALLOW_INSECURE_UPSTREAM=true to send keys and tokens in the clear';
    return [fault(name, `is an http URL beyond this machine; ${expected}`)];
  });
}

/** Node's own switches, which are not ours to define but to refuse where they would not do what somebody believes. */
function nodeFaults(texts: Texts): readonly Fault[] {
  if (texts.get('NODE_TLS_REJECT_UNAUTHORIZED') !== '0') return [];
  const expected =
    'expected to be unset: certificates are always checked; add your own authority with NODE_EXTRA_CA_CERTS';
  return [{ variable: undefined, line: `NODE_TLS_REJECT_UNAUTHORIZED: is 0; ${expected}` }];
}

function shardFaults({ SHARD: index, TOTAL_SHARDS: total }: Partial<Values>): readonly Fault[] {
  if (index === undefined || total === undefined || index < total) return [];
  return [fault('SHARD', `"${index}" is not below TOTAL_SHARDS; expected a whole number from 0 to ${total - 1}`)];
}
