import { describe, expect, test } from 'vitest';
import { runToEnd } from '../../../src/runtime/slices.ts';
import { parseInSlices } from '../../../src/transport/json/parse.ts';
import fc from '../../support/fast-check.ts';

/** What came of a document: its value as text, which shows the order of keys too, or that it is none. */
function inSlices(document: Buffer | string): string | undefined {
  try {
    return shown(runToEnd(parseInSlices(Buffer.from(document))));
  } catch {
    return undefined;
  }
}

function whole(document: Buffer | string): string | undefined {
  try {
    return shown(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(document))));
  } catch {
    return undefined;
  }
}

/** Own keys, `__proto__` among them; negative zero told from zero. */
function shown(value: unknown): string {
  return JSON.stringify(value, (_, each) => (Object.is(each, -0) ? '-0' : each)) ?? '';
}

/** What makes a document larger than what is parsed whole, wherever it stands. */
const ballast = JSON.stringify(Array.from({ length: 1_500 }, (_, index) => ({ index, text: '"],[{\\' })));

/** Documents of whatever kind, as text: with blanks, escapes and keys that are there twice. */
const json = fc.letrec<{ value: string }>((tie) => {
  const blank = fc.constantFrom('', '', ' ', '\n', '\t \r');
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 8 }).map((each) => JSON.stringify(each)),
    fc.constantFrom('"__proto__"', '"constructor"', '"a"', '"1"', '"\\u0041\\"\\\\"', '"[{,:"', '"\u00fc\ud83d\ude00"'),
  );
  const scalar = fc.oneof(text, fc.constantFrom('null', 'true', 'false', '-0', '1e3', '0.1', '123456789012345678901'));
  const within = (each: fc.Arbitrary<string>) =>
    fc.array(
      fc.tuple(blank, each, blank).map((parts) => parts.join('')),
      { maxLength: 5 },
    );
  const member = fc.tuple(text, blank, tie('value')).map(([key, space, value]) => `${key}${space}:${space}${value}`);
  return {
    value: fc.oneof(
      { maxDepth: 5, withCrossShrink: true },
      scalar,
      fc.constant(ballast),
      within(tie('value')).map((elements) => `[${elements.join(',')}]`),
      within(member).map((members) => `{${members.join(',')}}`),
    ),
  };
}).value;

describe('a document in slices is what JSON.parse makes of it', () => {
  test.each<[string, string]>([
    ['a list', `[${ballast},1,{"a":${ballast}}]`],
    ['an object', `{"a":${ballast},"b":{"c":[${ballast}]}}`],
    ['keys twice, the later one large', `{"a":1,"b":2,"a":${ballast}}`],
    ['keys twice, the earlier one large', `{"a":${ballast},"b":2,"a":1}`],
    ['__proto__, large and small', `{"__proto__":${ballast},"x":{"__proto__":1}}`],
    ['keys that look like places', `{"2":${ballast},"1":1,"a":2}`],
    ['blanks', ` \n[ ${ballast} , 1 ]\t\r\n`],
    ['a large text', `["${'a\\"b'.repeat(200_000)}",1]`],
    ['a large number of small ones', `[${'1,'.repeat(300_000)}1]`],
    ['many keys', `{${Array.from({ length: 50_000 }, (_, index) => `"key ${index}":${index}`).join(',')}}`],
    ['a byte order mark', `\ufeff[${ballast}]`],
    ['nothing in it', '[]'],
    ['no container', ' "text" '],
    ['large things nested deeper than is opened', `${'['.repeat(80)}${ballast}${']'.repeat(80)}`],
  ])('%s', (_, document) => {
    expect(whole(document)).toBeDefined();
    expect(inSlices(document) === whole(document)).toBe(true);
  });

  test('whatever it is', () => {
    fc.assert(
      fc.property(json, (document) => {
        expect(inSlices(document) === whole(document)).toBe(true);
      }),
      { numRuns: 100 },
    );
  });
});

describe('what JSON.parse rejects is rejected', () => {
  test.each<[string, Buffer | string]>([
    ['nothing', ''],
    ['a list cut off', `[${ballast}`],
    ['a list cut off behind a comma', `[${ballast},`],
    ['a comma too many', `[${ballast},]`],
    ['a comma at the beginning', `[,${ballast}]`],
    ['a comma too many in an object', `{"a":${ballast},}`],
    ['a list ended as an object', `[${ballast}}`],
    ['an object ended as a list', `{"a":${ballast}]`],
    ['brackets crossed', `[${ballast},[{]}]`],
    ['something behind it', `[${ballast}] x`],
    ['a key without a value', `{"a":${ballast},"b"}`],
    ['a value without a key', `{${ballast}}`],
    ['a key that is no text', `{1:${ballast}}`],
    ['no colon', `{"a" ${ballast}}`],
    ['two colons', `{"a"::${ballast}}`],
    ['a key that is no valid text', `{"\\x":${ballast}}`],
    ['no comma', `[${ballast} ${ballast}]`],
    ['something behind a large element', `[${ballast} 1]`],
    ['a text that does not end', `[${ballast},"]`],
    ['a text ended by an escaped quote', `[${ballast},"\\"]`],
    ['a line feed in a text', `[${ballast},"\n"]`],
    ['a blank that JSON does not know', `[${ballast},\u00a01]`],
    ['nothing but a blank that JSON does not know', '[\u00a0]'],
    ['a second byte order mark', `\ufeff\ufeff[${ballast}]`],
    ['a byte order mark inside', `[${'1,'.repeat(100_000)}\ufeff1]`],
    ['no UTF-8', Buffer.concat([Buffer.from(`[${ballast},"`), Buffer.from([0xff]), Buffer.from('"]')])],
  ])('%s', (_, document) => {
    expect([whole(document), inSlices(document)]).toEqual([undefined, undefined]);
  });

  test('whatever was changed about it, both say the same', () => {
    const document = `{"info":{"a":1},"metrics":[{"locks":${ballast}},${ballast}]}`;
    const junk = fc.constantFrom('', '"', ',', ':', '[', ']', '{', '}', '\\', ' ', '1', '\u00fc');
    fc.assert(
      fc.property(fc.nat(document.length), fc.nat(3), junk, (at, cut, put) => {
        const changed = document.slice(0, at) + put + document.slice(at + cut);
        expect(inSlices(changed) === whole(changed)).toBe(true);
      }),
      { numRuns: 100 },
    );
  });
});

test('a large document is interrupted every few thousandths of it', () => {
  const records = Array.from({ length: 100_000 }, (_, index) => ({ index, title: `title ${index}`, nested: [{}] }));
  const work = parseInSlices(Buffer.from(JSON.stringify({ info: {}, metrics: [{ locks: records }] })));
  let steps = 0;
  while (!work.next().done) steps += 1;
  expect(steps).toBeGreaterThan(70);
});
