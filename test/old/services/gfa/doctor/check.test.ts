import { expect, test } from 'vitest';
import { Secret } from '../../../../src/runtime/secret.ts';
import type { DoctorCheckDependencies } from '../../../../src/services/dependencies.ts';
import { createGfaCheck } from '../../../../src/services/gfa/doctor/check.ts';
import { GROUPS } from '../../../../src/services/gfa/families.ts';
import { dataAnswer, filer, lock } from '../../../support/gfa-answers.ts';
import { going } from '../../../support/mock-api.ts';

test('a first answer with the events of months is examined as any other', async () => {
  const day = 86_400;
  const locks = [lock(0), ...Array<ReturnType<typeof lock>>(140_000).fill(lock(100 * day))];
  const answer = dataAnswer({ filers: [filer(0, 5)], locks }, { request_time: filer(100 * day, 5).timestamp });
  const parts = {
    client: { send: () => Promise.resolve(answer) },
    environment: { clock: { now: () => 0, sleep: () => Promise.resolve() } },
  };
  const settings = { token: Secret.of('key'), clientKey: 'ours', clientKeyHeader: 'x-key', groups: GROUPS };
  const { run } = createGfaCheck(settings, parts as unknown as DoctorCheckDependencies);
  const found: string[] = [];
  const { variants } = await run((level, check, code) => void found.push(`${level} ${check} ${code}`), going);
  expect(found).toEqual(['ok credentials accepted', 'ok client-key honoured', 'ok data records']);
  expect(variants).toContainEqual({ question: 'new_key_reach', answer: 'more_than_a_day' });
});
