import type { Conversion, MetricName, Unit } from './units.ts';

/** One object as a service sent it; its fields are unknown until a conversion has read them. */
export type JsonObject = Readonly<Record<string, unknown>>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function jsonTypeOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  return Array.isArray(value) ? 'a list' : `a ${typeof value}`;
}

/** Label names and values. A value is any text; the exposition escapes it. */
export type Labels = Readonly<Record<string, string>>;

export type MetricType = 'gauge' | 'counter' | 'histogram';

/** All numeric fields that no other row names, for records whose field names are not documented. */
export interface RemainingFields {
  /** The label with the name of the field. */
  readonly label: string;
  /** The label's value for a field's name; unique within a record. */
  readonly value: (field: string) => string;
  /** Field names to skip, such as the record's time. */
  readonly except: readonly string[];
}

/** Replaces values that a counter does not keep: those that are not documented, and those of too many series. */
export const OTHER = 'other';

export interface EnumField {
  readonly field: string;
  /** The documented values, in the service's own spelling. */
  readonly documentedValues?: readonly string[];
  /** Whether a counter has a series for each documented value, so that a value without records is 0 instead of missing. */
  readonly zeros?: true;
}

interface FamilyOf<U extends Unit> {
  readonly name: MetricName<U>;
  /** One sentence that says which question the metric answers, for HELP and docs/metrics.md. */
  readonly help: string;
  /** Default `gauge`. */
  readonly type?: MetricType;
  readonly from: Conversion<U>;
  /** The upstream fields that feed it, in the service's own spelling, each with the labels that it adds. */
  readonly fields: Readonly<Record<string, Labels>> | RemainingFields;
  /** Labels whose value is itself an upstream field: label name to field name. */
  readonly fieldLabels?: Readonly<Record<string, string>>;
  /** Labels whose value the service chooses from a list; it is written in lower case with underscores. */
  readonly enumLabels?: Readonly<Record<string, EnumField>>;
}

/** A row of a table; adding a metric is adding one. */
export type Family = { readonly [U in Unit]: FamilyOf<U> }[Unit];

export interface Table {
  /** The operation, such as `GET /jobs`. */
  readonly source: string;
  /** The labels that every sample has, before those of its row. */
  readonly commonLabels: readonly string[];
  readonly families: readonly Family[];
}

export function isEveryOtherField(fields: Family['fields']): fields is RemainingFields {
  return typeof (fields as RemainingFields).value === 'function';
}

/** Returns the fields in the order in which HELP and the reference list them. */
export function fieldNames(family: Family): readonly string[] {
  return isEveryOtherField(family.fields) ? [] : Object.keys(family.fields);
}

/** Returns the labels that a row adds to the common ones, in order. */
export function extraLabelNames(family: Family): readonly string[] {
  const fromFields = Object.keys({ ...family.enumLabels, ...family.fieldLabels });
  if (isEveryOtherField(family.fields)) return [family.fields.label, ...fromFields];
  const fixed = new Set(Object.values(family.fields).flatMap((labels) => Object.keys(labels)));
  return [...fixed, ...fromFields];
}
