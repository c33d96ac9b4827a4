import fc from '../support/fast-check.ts';

/** Texts that may stand where a number, a moment, a name or nothing is expected. */
export const hostileText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom(
    ...['', '12.5', '-0', 'NaN', 'Infinity', '1e400', '0x10', '__proto__', 'constructor', '2026-03-02T10:00:00Z'],
  ),
  fc.constantFrom('"', '\\', '\n', '# EOF\n', 'a\u0000b', '\ud83d', 'RELEASED', 'P2', 'x'.repeat(2_000)),
);

/** Any value that JSON can hold. */
export const anyJson = fc.oneof(
  hostileText,
  fc.double(),
  fc.integer(),
  fc.jsonValue({ maxDepth: 3 }),
) as fc.Arbitrary<unknown>;

/** A value that is often one of those that make sense for a moment in time. */
const likely = fc.oneof(
  { weight: 3, arbitrary: anyJson },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 2_000_000_000_000 }) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 2_000_000_000 }).map((s) => new Date(s * 1000).toISOString()) },
);

/** An object with some of these fields, each with any value, and with fields that nobody knows. */
export function recordOf(fields: readonly string[]): fc.Arbitrary<unknown> {
  const known = fc.dictionary(fc.constantFrom(...fields), likely, { maxKeys: fields.length });
  const strange = fc.dictionary(hostileText, anyJson, { maxKeys: 2 });
  return fc.oneof(
    { weight: 8, arbitrary: fc.tuple(known, strange).map(([one, other]) => ({ ...other, ...one })) },
    { weight: 1, arbitrary: anyJson },
  );
}

/** A list of records, or anything in its place. */
export function listOf(record: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 8, arbitrary: fc.array(record, { maxLength: 6 }) }, { weight: 1, arbitrary: anyJson });
}
