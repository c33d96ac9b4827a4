import { expect, test } from 'vitest';
import { formatFindings } from '../../src/doctor/finding.ts';

test('a finding is a line, with what was expected and what to do below it where there is any', () => {
  const text = formatFindings([
    { subject: 'portal', level: 'ok', check: 'token', code: 'fine', observed: 'signed in' },
    {
      subject: 'portal',
      level: 'failure',
      check: 'licence',
      code: 'no-telemetry',
      observed: 'telemetry is not licensed',
      expected: 'a licence with telemetry',
      advice: 'ask for one',
    },
    { subject: 'gfa', level: 'warning', check: 'clock', code: 'skewed', observed: '8 min behind', advice: 'set it' },
  ]);
  expect(text).toBe(`portal
  ok       token    signed in
  failure  licence  telemetry is not licensed
                    expected: a licence with telemetry
                    do: ask for one

gfa
  warning  clock    8 min behind
                    do: set it

1 ok, 1 warning, 1 failure
`);
});
