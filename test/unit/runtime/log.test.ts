import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { RequestError } from '../../../src/runtime/errors.ts';
import { createLog } from '../../../src/runtime/log.ts';
import { createMasker } from '../../../src/runtime/masking.ts';

/** The line that an entry becomes. */
function lineOf(fields: object, masked?: (text: string) => string): string {
  let line = '';
  const write = (text: string) => {
    line += text;
  };
  createLog('info', { write }, masked).info(fields, 'said');
  return line;
}

/** Where a text may be, and how many characters of it are shown at most. */
const places: readonly (readonly [place: string, fieldsOf: (text: string) => object, shown: number])[] = [
  ['a text', (text) => ({ filer: text }), 1_000],
  ['a text of a list', (text) => ({ faults: ['one', text] }), 1_000],
  ['the message of an error', (text) => ({ err: new RequestError('invalid', text) }), 1_000],
  ['a cause', (text) => ({ err: new Error('said', { cause: new Error(text) }) }), 1_000],
  ['a stack', (text) => ({ err: new TypeError(text) }), 8_000 - 'TypeError: '.length],
];

describe.each(places)('a line of the log, whatever %s holds', (_, fieldsOf, shown) => {
  test('stays short', () => {
    const line = lineOf(fieldsOf('x'.repeat(100_000)));
    expect(Math.max(...(line.match(/x+(?=…)/g) ?? []).map(({ length }) => length))).toBe(shown);
    expect(JSON.parse(line)).toHaveProperty('msg', 'said');
  });

  test('does nothing to a terminal', () => {
    // Clears the screen, sets the title, moves to a new line, turns the direction, has half a character.
    const line = lineOf(fieldsOf('a\u001b[2J\u009b31m\u0007b\r\nc\u202ed\u200be\ud800f'));
    expect(/\p{C}/u.test(line.trimEnd())).toBe(false);
    expect(line).toContain(String.raw`a\\u{1b}[2J\\u{9b}31m\\u{7}b\\u{d}`);
    expect(line).toContain(String.raw`c\\u{202e}d\\u{200b}e\\u{d800}f`);
  });

  test('shows no beginning of a secret where it is cut', () => {
    const secret = 'hunter2-hunter2-hunter2-';
    const text = Array.from({ length: 400 }, (_, at) => `${'x'.repeat(at % 29)}${secret}`).join();
    const mask = createMasker(() => [secret]);
    expect(lineOf(fieldsOf(text), mask)).not.toContain('hunt');
  });
});

test('a line of the log has everything that is short, and what is no text; of an error its causes, and each address', () => {
  const fields = { filer: 'x'.repeat(1_000), tasks: 7, up: true, faults: ['one'], none: null };
  const addresses = ['connect ETIMEDOUT 192.0.2.1:443', 'connect ENETUNREACH ::2:443'];
  const cause = new AggregateError(addresses.map((text) => new Error(text)));
  expect(JSON.parse(lineOf({ ...fields, err: new RequestError('network', 'no response', { cause }) }))).toMatchObject({
    ...fields,
    err: { type: 'RequestError', message: 'no response', causes: [addresses.join(', ')] },
  });
});

test('a log that nothing reads drops lines instead of keeping them, and says how many once it is read again', async () => {
  const stream = new PassThrough({ encoding: 'utf8' });
  const log = createLog('info', stream);
  for (let line = 0; line < 20_000; line += 1) log.info('x'.repeat(100));
  expect(stream.writableLength).toBeGreaterThan(1_000_000);
  expect(stream.writableLength).toBeLessThan(1_001_000);
  const lines: string[] = [];
  stream.on('data', (text: string) => lines.push(...text.trimEnd().split('\n')));
  await once(stream, 'drain');
  log.info('goes on');
  const written = lines.findIndex((line) => line.includes('dropped'));
  expect(lines.slice(written).map((line) => JSON.parse(line))).toMatchObject([
    { level: 'warn', msg: 'Log lines were dropped because nothing read them.', lines: 20_000 - written },
    { msg: 'goes on' },
  ]);
});
