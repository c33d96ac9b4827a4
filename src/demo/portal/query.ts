import type { Complaint } from '../exchange.ts';

/** The allowed values of a query parameter. */
export type QueryRule =
  | { readonly kind: 'text' | 'boolean' | 'uuid' | 'moment'; readonly many?: true }
  | { readonly kind: 'integer'; readonly least?: number }
  | { readonly kind: 'word'; readonly words: readonly string[]; readonly many?: true };

/** Any text. */
export const text: QueryRule = { kind: 'text' };

/** Any texts, in a repeated parameter. */
export const texts: QueryRule = { kind: 'text', many: true };

/** `true` or `false`. */
export const truth: QueryRule = { kind: 'boolean' };

/** A UUID. */
export const uuid: QueryRule = { kind: 'uuid' };

/** A date-time of RFC 3339. */
export const moment: QueryRule = { kind: 'moment' };

/** One word of a list. */
export function word(words: readonly string[]): QueryRule {
  return { kind: 'word', words };
}

/** Words of a list, in a repeated parameter. */
export function words(known: readonly string[]): QueryRule {
  return { kind: 'word', words: known, many: true };
}

/** A whole number, at least `least` if that is given. */
export function integer(least?: number): QueryRule {
  return least === undefined ? { kind: 'integer' } : { kind: 'integer', least };
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Whether a text is a UUID in its usual form. */
export function isUuid(value: string): boolean {
  return UUID.test(value);
}

/** The errors of a query, for a 422. */
export function queryComplaints(
  query: URLSearchParams,
  rules: Readonly<Record<string, QueryRule>>,
): readonly Complaint[] {
  return Object.entries(rules).flatMap(([name, rule]) => {
    const values = query.getAll(name);
    const single = rule.kind === 'integer' || rule.many === undefined;
    if (single && values.length > 1) return complaint('single', name, 'One value is expected', values);
    return values.flatMap((value) => {
      const wrong = faultOf(value, rule);
      return wrong === undefined ? [] : complaint(`${rule.kind}_parsing`, name, wrong, value);
    });
  });
}

function faultOf(value: string, rule: QueryRule): string | undefined {
  if (rule.kind === 'boolean') return value === 'true' || value === 'false' ? undefined : 'A boolean is expected';
  if (rule.kind === 'uuid') return isUuid(value) ? undefined : 'A UUID is expected';
  if (rule.kind === 'moment') return Number.isNaN(Date.parse(value)) ? 'A date and time is expected' : undefined;
  if (rule.kind === 'word') return rule.words.includes(value) ? undefined : `One of ${rule.words.join(', ')}`;
  if (rule.kind !== 'integer') return undefined;
  if (!/^-?\d{1,15}$/.test(value)) return 'An integer is expected';
  return rule.least !== undefined && Number(value) < rule.least ? `At least ${rule.least} is expected` : undefined;
}

function complaint(type: string, name: string, msg: string, input: unknown): readonly Complaint[] {
  return [{ type, loc: ['query', name], msg, input }];
}
