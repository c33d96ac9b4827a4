import { describe, expect, test } from 'vitest';
import { RequestError } from '../../src/runtime/errors.ts';
import { createLog } from '../../src/runtime/log.ts';

/** The line that an entry becomes. */
function lineOf(fields: object): string {
  let line = '';
  createLog('info', {
    write: (text) => {
      line += text;
    },
  }).info(fields, 'said');
  return line;
}

describe('a line of the log', () => {
  const endless = 'x'.repeat(10_000_000);

  test.each([
    ['a text that a service chose', { filer: endless }],
    ['the message of an error', { err: new RequestError('invalid', endless) }],
    ['a cause', { err: new Error('said', { cause: new Error(endless) }) }],
    ['a stack', { err: new TypeError(endless) }],
  ])('stays short, however long %s is', (_, fields) => {
    const line = lineOf(fields);
    expect(line.length).toBeLessThan(12_000);
    expect(line).toContain('…');
    expect(JSON.parse(line)).toHaveProperty('msg', 'said');
  });

  test('has whole what is not that long, and what is no text', () => {
    const fields = { filer: 'edge-lyon', tasks: 7, up: true, faults: ['one'], none: null };
    expect(JSON.parse(lineOf(fields))).toMatchObject(fields);
  });

  test('tells a failed request by its message, and any other error with its stack', () => {
    expect(JSON.parse(lineOf({ err: new RequestError('timeout', 'asking the portal: too late') })).err).toEqual({
      type: 'RequestError',
      message: 'asking the portal: too late',
    });
    expect(JSON.parse(lineOf({ err: new TypeError('oops') })).err.stack).toContain('log.test.ts');
  });
});
