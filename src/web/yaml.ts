import { Ajv, type ErrorObject, type SchemaObject, type ValidateFunction } from 'ajv';
import { type Document, isAlias, isScalar, LineCounter, type Node, type Pair, parseDocument, visit } from 'yaml';
import { likelyTypo, nearest } from '../runtime/suggest.ts';

/** A mapping that has the listed keys and no others. */
export function mapping(properties: Readonly<Record<string, SchemaObject>>, more: SchemaObject = {}): SchemaObject {
  return { type: 'object', properties, additionalProperties: false, ...more };
}

/** A string with this pattern. `expected` ends the line about an error. */
export function stringMatching(pattern: RegExp, expected: string): SchemaObject {
  return { type: 'string', pattern: pattern.source, description: expected };
}

export function enumOf(values: readonly string[]): SchemaObject {
  return { enum: values };
}

export interface YamlResult {
  /** The parsed document if it matches the schema; undefined if there are errors. */
  readonly data: unknown;
  /** One line for each error, which quotes no value. */
  readonly errors: readonly string[];
  /** Adds an error of the mapping or value at a path, with its line; of the part that exists, if the path ends earlier. */
  addError(path: readonly string[], what: string): void;
}

/** Reads one YAML document of texts, lists and mappings and checks it against a schema. */
export function readYaml(text: string, schema: SchemaObject): YamlResult {
  const lines = new LineCounter();
  const errors: string[] = [];
  const addErrorAt = (offset: number, what: string) => errors.push(`line ${lines.linePos(offset).line || 1}: ${what}`);
  // By the failsafe schema each scalar is the text as written. Pretty errors would quote the file, which may hold a key.
  const options = { lineCounter: lines, prettyErrors: false, merge: false, schema: 'failsafe' } as const;
  const document = parseDocument(text, options);
  const addError = (path: readonly string[], what: string) => {
    const name = path.filter((step) => !/^\d+$/.test(step)).map(shownKey);
    addErrorAt(offsetOf(document, path), `${name.join('.') || 'the file'}: ${what}`);
  };
  for (const { code, pos } of [...document.errors, ...document.warnings]) {
    addErrorAt(pos[0], NOT_YAML[code] ?? `is not YAML (${code})`);
  }
  if (document.contents === null || isMissing(document.contents)) {
    addErrorAt(0, 'the file is empty; write {} for an empty section');
  } else checkNodes(document, addErrorAt);
  if (errors.length > 0) return { data: undefined, errors, addError };
  let data: unknown;
  try {
    data = document.toJS();
  } catch {
    addErrorAt(0, 'the aliases refer to each other too often');
    return { data, errors, addError };
  }
  const validate = compiled(schema);
  if (validate(data)) return { data, errors, addError };
  for (const error of validate.errors ?? []) {
    const path = error.instancePath.split('/').slice(1).map(unescaped);
    const { additionalProperty, property } = error.params;
    const key: unknown = additionalProperty ?? property ?? error.propertyName;
    if (error.keyword !== 'propertyNames') addError(key === undefined ? path : [...path, String(key)], wordsOf(error));
  }
  return { data: undefined, errors, addError };
}

/** Compiled schemas, which are kept because compiling takes longer than reading a file. */
const validators = new Map<SchemaObject, ValidateFunction>();

function compiled(schema: SchemaObject): ValidateFunction {
  const known = validators.get(schema) ?? new Ajv({ allErrors: true, verbose: true }).compile(schema);
  validators.set(schema, known);
  return known;
}

/** A value in quotes may be empty and counts as unset; a missing one may be cut off, so it is an error. */
function checkNodes(document: Document.Parsed, addError: (offset: number, what: string) => void): void {
  visit(document, {
    Alias: (_, alias) => {
      if (alias.resolve(document) !== undefined) return;
      addError(startOf(alias), 'an alias has no anchor above it; expected one, or quotes around a text with *');
    },
    Pair: (_, { key, value }: Pair<unknown, unknown>) => {
      if (!isScalar(key) && !isAlias(key)) addError(startOf(key), 'a key is not a single value');
      return isScalar(value) && value.value === '' && value.type !== 'PLAIN' ? visit.REMOVE : undefined;
    },
    Scalar: (_, node) => {
      if (isMissing(node)) addError(startOf(node), 'a key or its value is missing; write {} for an empty section');
    },
  });
}

/** YAML's null, which is also what is left of a text that was cut off. */
function isMissing(node: unknown): boolean {
  return isScalar(node) && node.type === 'PLAIN' && /^(?:|~|null|Null|NULL)$/.test(node.source ?? '');
}

function wordsOf({ keyword, parentSchema: schema = {}, params, data }: ErrorObject): string {
  if (keyword === 'additionalProperties') return `unknown key; ${hint(params.additionalProperty, schema.properties)}`;
  if (keyword === 'enum') {
    const shown = typeof data === 'string' && /^\w{1,60}$/.test(data) ? data : 'the value';
    const known: readonly string[] = schema.enum;
    const expected = known.length > 6 ? `did you mean ${nearest(shown, known)}?` : `expected ${known.join(', ')}`;
    return `${shown} is not known; ${expected}`;
  }
  if (keyword === 'dependencies') return `has no effect without ${params.missingProperty}`;
  return `expected ${schema.description ?? KINDS[schema.type] ?? 'another value'}`;
}

const KINDS: Readonly<Record<string, string>> = {
  object: 'key: value lines',
  array: 'a list of lines that begin with -',
  string: 'a single value',
};

function hint(key: string, properties: object): string {
  const known = Object.keys(properties);
  const meant = likelyTypo(key, known);
  return meant === undefined ? `expected ${known.join(', ')}` : `did you mean ${meant}?`;
}

/** The offset of the key at a path, or of the last key on the way to it that exists. */
function offsetOf(document: Document.Parsed, path: readonly string[]): number {
  let found: unknown = document.contents;
  let depth = 0;
  visit(document, {
    Pair: (_, pair, above) => {
      const keys = [...above.flatMap((node) => ('key' in node ? [String(node.key)] : [])), String(pair.key)];
      if (keys.length <= depth || keys.some((key, level) => key !== path[level])) return;
      found = pair.key;
      depth = keys.length;
    },
  });
  return startOf(found);
}

function startOf(node: unknown): number {
  return (node as Node | undefined)?.range?.[0] ?? 0;
}

/** Unescapes a step of a JSON pointer, as RFC 6901 defines it. */
function unescaped(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~');
}

/** A key that does not look like words may be a secret in the wrong place, or break the line. */
function shownKey(key: string): string {
  return key.length < 30 && /^[A-Za-z]+\d?(?:[_-][A-Za-z]+)*$/.test(key) ? key : 'a key';
}

/** Sentences for the most common errors of the parser. */
const NOT_YAML: Readonly<Record<string, string>> = {
  DUPLICATE_KEY: 'a key is repeated',
  TAB_AS_INDENT: 'a tab indents the line; expected spaces',
  BAD_INDENT: 'the line is indented unlike the lines around it',
  TAG_RESOLVE_FAILED: 'a tag (!) is not supported; remove it',
  MULTIPLE_DOCS: 'a second document begins; expected one',
};
