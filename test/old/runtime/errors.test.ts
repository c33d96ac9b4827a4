import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { asError, CredentialError, RequestError, SchemaError } from '../../src/runtime/errors.ts';
import type { Log } from '../../src/runtime/log.ts';
import { REDACTED, Secret } from '../../src/runtime/secret.ts';
import fc from '../support/fast-check.ts';
import { keptLog } from '../support/kept-log.ts';
import type { LogLine } from '../support/program.ts';

/** What a log wrote, one object a line. */
function logged(write: (log: Log) => void): readonly LogLine[] {
  const { log, lines } = keptLog('info');
  write(log);
  return lines;
}

describe('an error', () => {
  test('whatever was thrown, making an error of it throws nothing', () => {
    const error = new TypeError('itself');
    expect([asError(error), asError(Symbol('s')).message]).toEqual([error, 'Symbol(s)']);
    fc.assert(fc.property(fc.anything({ withNullPrototype: true }), (thrown) => asError(thrown) instanceof Error));
  });
});

describe('the log', () => {
  test('is one JSON object a line, with the time and without the machine’s name', () => {
    const [line] = logged((log) => log.info({ task: 'gfa/data' }, 'polled'));
    expect(line).toEqual({
      level: 'info',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      task: 'gfa/data',
      msg: 'polled',
    });
  });

  test('tells an error of ours by its message and those of its causes', () => {
    const cause = new Error('connect ECONNREFUSED', { cause: new Error('refused') });
    const err = new CredentialError('getting a token', { cause: new RequestError('network', 'no answer', { cause }) });
    expect(logged((log) => log.warn({ err }, 'down'))[0]?.err).toEqual({
      type: 'CredentialError',
      message: 'getting a token',
      causes: ['no answer', 'connect ECONNREFUSED', 'refused'],
    });
  });

  test('tells a defect by its stack too', () => {
    const [line] = logged((log) => log.error({ err: new TypeError('x is undefined') }, 'a defect'));
    expect(line?.err).toEqual({
      type: 'TypeError',
      message: 'x is undefined',
      stack: expect.stringContaining('errors.test'),
    });
  });

  test('ends where errors cause each other', () => {
    const err = new SchemaError('a');
    err.cause = new SchemaError('b', { cause: err });
    expect(logged((log) => log.error({ err }, 'x'))[0]?.err).toMatchObject({
      causes: ['b', 'a', 'b', 'a', 'b'],
    });
  });

  test.each([['a text'], [null], [7]])('takes %j for an error as it is', (err) => {
    expect(logged((log) => log.error({ err }, 'x'))[0]?.err).toEqual(err);
  });
});

describe('a secret', () => {
  const secret = Secret.of('hunter2');

  test.each<[string, string]>([
    ['text', `${secret}`],
    ['a joined text', ['key', secret].join('=')],
    ['JSON', JSON.stringify({ secret })],
    ['an inspection', inspect({ deep: { secret } }, { depth: 9, showHidden: true })],
    ['a log line', JSON.stringify(logged((log) => log.info({ secret }, 'x')))],
    ['its keys and values', JSON.stringify([Object.entries(secret), { ...secret }])],
  ])('is never in %s', (_, written) => {
    expect(written).not.toContain('hunter2');
  });

  test('gives its value to who asks for it, and stands for itself elsewhere', async () => {
    expect([secret.reveal(), String(secret), await secret.reload()]).toEqual(['hunter2', REDACTED, false]);
  });

  test('that cannot be read at the start is an error at the start', () => {
    const unreadable = () => {
      throw new Error('ENOENT');
    };
    expect(() => new Secret(unreadable)).toThrow('ENOENT');
  });
});
