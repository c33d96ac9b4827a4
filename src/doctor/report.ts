import { createHmac } from 'node:crypto';
import { isFields } from '../metrics/family.ts';
import type { Api } from '../metrics/snapshot.ts';
import type { Variant } from '../metrics/variant.ts';
import type { Diagnoses, Diagnosis } from './doctor.ts';
import type { Documented } from './documented.ts';
import type { Finding } from './finding.ts';
import { type Look, lookOf, type Shape, ShapeCount } from './shape.ts';

/**
 * A report contains shapes, types, shares, powers of ten, words of documented fields, and ids hashed with a temporary
 * key, so that they match within one report only. No text, name, id, host, key or exact number of the account.
 */
export interface Report {
  readonly format: 'filer-exporter-report/1';
  readonly version: string;
  readonly findings: readonly Pick<Finding, 'level' | 'subject' | 'check' | 'code'>[];
  readonly services: Readonly<Partial<Record<Api, ServiceReport>>>;
}

/** One service in a public form. */
export interface ServiceReport {
  readonly variants: readonly Variant[];
  readonly operations: Readonly<Record<string, OperationReport>>;
}

/** One operation in a public form. */
export interface OperationReport {
  /** Requests by status; `none` without an answer. */
  readonly answers: Readonly<Record<string, number>>;
  /** Power of ten of the longest answer, in milliseconds, and of the largest, in bytes. */
  readonly longestMs: number;
  readonly largestBytes: number;
  readonly shape: PublicShape | null;
  readonly words: Readonly<Record<string, readonly string[]>>;
  /** Hashed ids by place. */
  readonly ids: Readonly<Record<string, readonly string[]>>;
  readonly unexpected: readonly string[];
}

/** A shape with shares instead of counts. */
export interface PublicShape {
  /** Power of ten of how often it was seen. */
  readonly seen: number;
  readonly shares: Readonly<Partial<Record<Look, number>>>;
  readonly magnitude?: readonly [least: number, most: number];
  readonly fields?: Readonly<Record<string, PublicShape>>;
  readonly items?: PublicShape;
}

/** Replaces a field name that may not be shown, such as an id that is used as a name. */
const HIDDEN = '*';
const FIELD_NAME = /^[A-Za-z][A-Za-z_]{0,40}\d{0,2}$/;
const WORD = /^[A-Za-z][A-Za-z_ -]{0,30}$/;
/** A field with more distinct words is not a list of words. */
const MOST_WORDS = 20;
const MOST_IDS = 50;

/** The report of the findings. `key` is random and not stored. */
export function reportOf({ findings, services }: Diagnoses, version: string, key: Uint8Array): Report {
  return {
    format: 'filer-exporter-report/1',
    version,
    findings: findings.map(({ level, subject, check, code }) => ({ level, subject, check, code })),
    services: Object.fromEntries(services.map((service) => [service.api, serviceReport(service, key)])),
  };
}

function serviceReport({ examination, variants, unexpected, exchanges }: Diagnosis, key: Uint8Array): ServiceReport {
  const operations: Record<string, OperationReport> = {};
  const names = new Set(exchanges.map(examination.operationOf));
  for (const operation of names) {
    const own = exchanges.filter((exchange) => examination.operationOf(exchange) === operation);
    const bodies = own.filter(({ status }) => status === 200).map(({ body }) => body);
    const documented = examination.documented(operation);
    const nameOf = namer(documented, bodies);
    const shape = new ShapeCount();
    for (const body of bodies) shape.add(body);
    operations[operation] = {
      answers: countBy(own.map(({ status }) => String(status ?? 'none'))),
      longestMs: power(Math.max(...own.map(({ seconds }) => seconds * 1000))),
      largestBytes: power(Math.max(...own.map(({ bytes }) => bytes))),
      // A token answer consists of secrets, and its form is known.
      shape: documented === undefined || bodies.length === 0 ? null : publicShape(shape.shape(nameOf)),
      words: documented === undefined ? {} : wordsIn(bodies, examination.wordFields),
      ids: documented === undefined ? {} : idsIn(bodies, nameOf, key),
      unexpected: unexpected
        .filter((one) => one.operation === operation)
        .map(({ what, place, look }) => `${what}: ${shownPlace(place, nameOf)} (${look})`),
    };
  }
  return { variants, operations };
}

/**
 * Returns how to show a field name: unchanged if it is documented, or if it looks like a field and never occurs as a
 * value.
 */
function namer(documented: Documented | undefined, bodies: readonly unknown[]): (field: string) => string {
  const known = new Set<string>();
  if (documented !== undefined) collectNames(documented, known);
  const texts = new Set<string>();
  for (const body of bodies) eachValue(body, '', (value) => typeof value === 'string' && texts.add(value));
  return (field) => (known.has(field) || (FIELD_NAME.test(field) && !texts.has(field)) ? field : HIDDEN);
}

function collectNames(documented: Documented, names: Set<string>): void {
  if (typeof documented === 'string') return;
  if (Array.isArray(documented)) {
    for (const item of documented) collectNames(item, names);
    return;
  }
  for (const [field, one] of Object.entries(documented)) {
    names.add(field);
    if (typeof one === 'object') collectNames(one, names);
  }
}

function eachValue(value: unknown, field: string, tell: (value: unknown, field: string) => void): void {
  tell(value, field);
  if (Array.isArray(value)) for (const item of value) eachValue(item, field, tell);
  else if (isFields(value)) for (const [name, one] of Object.entries(value)) eachValue(one, name, tell);
}

function wordsIn(bodies: readonly unknown[], fields: ReadonlySet<string>): Readonly<Record<string, readonly string[]>> {
  const words = new Map<string, Set<string>>();
  for (const body of bodies) {
    eachValue(body, '', (value, field) => {
      if (typeof value !== 'string' || !fields.has(field) || !WORD.test(value)) return;
      words.set(field, (words.get(field) ?? new Set()).add(value));
    });
  }
  return Object.fromEntries([...words].flatMap(([field, all]) => (all.size > MOST_WORDS ? [] : [[field, [...all]]])));
}

function idsIn(
  bodies: readonly unknown[],
  nameOf: (field: string) => string,
  key: Uint8Array,
): Readonly<Record<string, readonly string[]>> {
  const ids = new Map<string, Set<string>>();
  for (const body of bodies) {
    eachValue(body, '', (value, field) => {
      if (typeof value !== 'string' || lookOf(value.replace(/_\d+$/, '')) !== 'uuid') return;
      const known = ids.get(nameOf(field)) ?? new Set<string>();
      ids.set(nameOf(field), known);
      if (known.size < MOST_IDS) known.add(hashed(value, key));
    });
  }
  return Object.fromEntries([...ids].map(([field, all]) => [field, [...all]]));
}

function hashed(id: string, key: Uint8Array): string {
  return createHmac('sha256', key).update(id.toLowerCase().replace(/_\d+$/, '')).digest('hex').slice(0, 8);
}

function publicShape({ looks, magnitude, fields, items }: Shape): PublicShape {
  const counts = Object.entries(looks) as readonly [Look, number][];
  const total = counts.reduce((sum, [, count]) => sum + count, 0);
  return {
    seen: power(total),
    shares: Object.fromEntries(counts.map(([look, count]) => [look, Math.round((100 * count) / total) / 100])),
    ...(magnitude === undefined ? {} : { magnitude }),
    ...(fields === undefined
      ? {}
      : { fields: Object.fromEntries(Object.entries(fields).map(([name, one]) => [name, publicShape(one)])) }),
    ...(items === undefined ? {} : { items: publicShape(items) }),
  };
}

function shownPlace(place: string, nameOf: (field: string) => string): string {
  return place
    .split('.')
    .map((part) => nameOf(part.replaceAll('[]', '')) + '[]'.repeat(part.split('[]').length - 1))
    .join('.');
}

function countBy(texts: readonly string[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const text of texts) counts[text] = (counts[text] ?? 0) + 1;
  return counts;
}

function power(value: number): number {
  return value > 0 ? Math.floor(Math.log10(value)) : 0;
}
