import { expect, test } from 'vitest';
import { explainFor, explainTask } from '../../../src/contract/causes.ts';
import { CredentialError, PostponedError, RequestError, SchemaError } from '../../../src/runtime/errors.ts';
import { failureReason, isForbidden, isNotFound, meaningOf } from '../../../src/runtime/failures.ts';
import { gfaCauses } from '../../../src/services/gfa/causes.ts';
import { portalCauses } from '../../../src/services/portal/causes.ts';

const PURPOSES = ['read', 'series', 'events', 'token'] as const;

/** An error with this status, or with this reason instead of a response. */
function errorOf(code: string, purpose: (typeof PURPOSES)[number]): RequestError {
  if (/^\d/.test(code)) return new RequestError('status', code, { status: Number(code), purpose });
  return new RequestError(code as 'network', code, { purpose });
}

test.each([
  ['network', 'network', 'keep 2, keep 2, keep 1, keep 2'],
  ['timeout', 'timeout', 'keep, keep, keep, keep'],
  ['invalid', 'invalid', 'keep, keep, keep, keep'],
  ['oversize', 'oversize', 'keep, shrink, keep, keep'],
  ['400', 'rejected', 'keep, keep, keep, pause'],
  ['401', 'credentials', 'renew, renew, renew, pause'],
  ['403', 'forbidden', 'suspend, suspend, renew, pause'],
  ['404', 'not_found', 'suspend, suspend, suspend, suspend'],
  ['408', 'timeout', 'keep, shrink, keep, keep'],
  ['413', 'oversize', 'keep, shrink, keep, keep'],
  ['422', 'rejected', 'suspend, suspend, suspend, pause'],
  ['429', 'throttled', 'wait 2, wait 2, wait, wait 2'],
  ['500', 'server_error', 'keep 1, keep 1, keep 1, keep 1'],
  ['503', 'server_error', 'keep 2, keep 2, keep 1, keep 2'],
  ['599', 'server_error', 'keep, keep, keep, keep'],
])('%s means %s, and for a read, a series, events and a token: %s', (code, reason, meanings) => {
  const all = PURPOSES.map((purpose) => meaningOf(errorOf(code, purpose)));
  const shown = all.map(({ action, repeats = 0 }) => (repeats === 0 ? action : `${action} ${repeats}`));
  expect(shown.join(', ')).toBe(meanings);
  expect(all[0]?.reason).toBe(reason);
});

test('an error of credentials has the reason of its cause, and other errors are invalid responses', () => {
  const cause = errorOf('503', 'token');
  expect(failureReason(new CredentialError('x', { cause }))).toBe('server_error');
  expect(failureReason(new CredentialError('x'))).toBe('credentials');
  expect(failureReason(new PostponedError('x', 0))).toBe('throttled');
  expect([failureReason(new SchemaError('x')), failureReason(undefined)]).toEqual(['invalid', 'invalid']);
  expect(['403', '404', '422', '400'].filter((code) => isNotFound(errorOf(code, 'read')))).toEqual(['404', '422']);
  expect([isForbidden(errorOf('403', 'events')), isForbidden(errorOf('404', 'read'))]).toEqual([true, false]);
});

test('for one throttled request nobody is told to lower the request rate of other tools, for the whole service they are', () => {
  const [explain, error] = [explainFor(portalCauses), errorOf('429', 'series')];
  expect(explainTask(explain, {}, error).advice).toMatch(/^wait: it is sent again/);
  expect(explain(error).advice).toContain('other tools');
});

test('a rejection is explained with what the service says, and how to exclude what it rejects', () => {
  const explain = explainFor(portalCauses);
  const [plain, said] = [{}, { said: 'no right' }].map(
    (more) => new RequestError('status', '', { status: 403, ...more }),
  );
  expect(explain(plain).happened).toMatch(/\(403\)$/);
  expect(explain(said).happened).toMatch(/\(403\): no right$/);
  expect(explain(plain, { without: 'add -x' }).advice).toMatch(/names, or add -x$/);
  expect(explainTask(explain, { without: 'add -x' }, errorOf('404', 'read')).advice).toMatch(/^add -x, or check/);
  expect(explainTask(explain, {}, errorOf('404', 'read')).advice).toMatch(/^check/);
});

test('a redirect is explained with the address that it leads to', () => {
  const said = 'https://eu.example.com';
  const error = new RequestError('status', '308', { status: 308, problem: 'redirect', said });
  expect(explainFor(gfaCauses)(error)).toEqual({
    happened: 'the service redirected the request to https://eu.example.com',
    advice: expect.stringContaining('has moved to https://eu.example.com, correct GFA_URL'),
  });
});

test('the doctor is recommended by everybody but itself', () => {
  const error = errorOf('401', 'events');
  expect(explainFor(gfaCauses)(error).advice).toMatch(
    /not revoked; --doctor finds out whether it needs the word Bearer$/,
  );
  expect(explainFor(gfaCauses, true)(error).advice).toMatch(/not revoked$/);
});
