import { createHmac } from 'node:crypto';
import type { ServiceName } from '../contract/poll-result.ts';
import { isJsonObject } from '../metrics/family.ts';
import { getOrCreate, increment } from '../runtime/maps.ts';
import type { CheckedService, DoctorResult } from './doctor.ts';
import { formatOf, powerOfTen, schemaOf } from './value-schema.ts';

/** Replaces every field name that is not documented: it may be the name of a person, a company or a host. */
const HIDDEN = '*';
const WORD = /^[A-Za-z][A-Za-z_ -]{0,30}$/;
/** A field with more distinct values is not an enumeration. */
const MAX_WORDS = 20;
const MAX_IDS = 50;

/**
 * A report contains formats, types, shares, powers of ten, words of documented fields, and ids hashed with a temporary
 * key, so that they match within one report only. No text, name, id, host, key or exact number of the account. `key` is
 * random and not stored.
 */
export function reportOf({ findings, services }: DoctorResult, version: string, key: Uint8Array) {
  const reports: Record<ServiceName, ReturnType<typeof serviceReport>> = {};
  for (const service of services) reports[service.api] = serviceReport(service, key);
  return {
    format: 'filer-exporter-report/1',
    version,
    findings: findings.map(({ level, subject, check, code }) => ({ level, subject, check, code })),
    services: reports,
  };
}

export type Report = ReturnType<typeof reportOf>;

function serviceReport({ check, answers, unexpected, exchanges }: CheckedService, key: Uint8Array) {
  const names = [...new Set(exchanges.map(({ operation }) => operation))];
  const operations = names.map((operation) => {
    const own = exchanges.filter((exchange) => exchange.operation === operation);
    const bodies = own.filter(({ status }) => status === 200).map(({ body }) => body);
    const documented = check.documented(operation);
    const texts = textsByField(bodies);
    const names = new Set(fieldNames(documented));
    const nameOf = (field: string) => (names.has(field) ? field : HIDDEN);
    const statuses = new Map<string, number>();
    for (const { status } of own) increment(statuses, String(status ?? 'none'));
    const report = {
      answers: Object.fromEntries(statuses),
      // Powers of ten.
      longestMs: powerOfTen(Math.max(...own.map(({ seconds }) => seconds * 1000))),
      largestBytes: powerOfTen(Math.max(...own.map(({ bytes }) => bytes))),
      undocumentedFields: [...new Set(fieldNames(bodies))].filter((field) => !names.has(field)).length,
      // A token response consists of secrets, and its form is known.
      shape: documented === undefined || bodies.length === 0 ? null : schemaOf(bodies, nameOf),
      words: documented === undefined ? {} : wordsIn(texts, check.wordFields),
      ids: documented === undefined ? {} : idsIn(texts, nameOf, key),
      unexpected: unexpected
        .filter((one) => one.operation === operation)
        .map(({ what, path, format }) => `${what}: ${shownPath(path, nameOf)} (${format})`),
    };
    return [operation, report] as const;
  });
  return { answers, operations: Object.fromEntries(operations) };
}

type Texts = ReadonlyMap<string, ReadonlySet<string>>;

function textsByField(bodies: readonly unknown[]): Texts {
  const texts = new Map<string, Set<string>>();
  const collect = (value: unknown, field: string): void => {
    if (typeof value === 'string') getOrCreate(texts, field, () => new Set()).add(value);
    else if (Array.isArray(value)) for (const item of value) collect(item, field);
    else if (isJsonObject(value)) for (const [name, one] of Object.entries(value)) collect(one, name);
  };
  collect(bodies, '');
  return texts;
}

function* fieldNames(documented: unknown): Generator<string> {
  if (Array.isArray(documented)) for (const item of documented) yield* fieldNames(item);
  if (!isJsonObject(documented)) return;
  yield* Object.keys(documented);
  for (const one of Object.values(documented)) yield* fieldNames(one);
}

function wordsIn(texts: Texts, fields: ReadonlySet<string>): Readonly<Record<string, readonly string[]>> {
  const words = [...texts].map(([field, own]) => [field, [...own].filter((text) => WORD.test(text))] as const);
  return Object.fromEntries(
    words.filter(([field, own]) => fields.has(field) && own.length > 0 && own.length <= MAX_WORDS),
  );
}

function idsIn(
  texts: Texts,
  nameOf: (field: string) => string,
  key: Uint8Array,
): Readonly<Record<string, readonly string[]>> {
  const ids = new Map<string, ReadonlySet<string>>();
  for (const [field, own] of texts) {
    const found = [...own].filter((text) => formatOf(text.replace(/_\d+$/, '')) === 'uuid');
    const all = new Set([...(ids.get(nameOf(field)) ?? []), ...found.map((id) => hashed(id, key))]);
    if (all.size > 0) ids.set(nameOf(field), all);
  }
  return Object.fromEntries([...ids].map(([field, all]) => [field, [...all].slice(0, MAX_IDS)]));
}

function hashed(id: string, key: Uint8Array): string {
  return createHmac('sha256', key).update(id.toLowerCase().replace(/_\d+$/, '')).digest('hex').slice(0, 8);
}

function shownPath(path: string, nameOf: (field: string) => string): string {
  return path
    .split('.')
    .map((part) => nameOf(part.replaceAll('[]', '')) + '[]'.repeat(part.split('[]').length - 1))
    .join('.');
}
