import { expect, test } from 'vitest';
import { WarningLabels } from '../../src/status/warning-labels.ts';
import { api } from '../pages/reports.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

const forbidden = (said: string) =>
  api({ warnings: [{ code: 'forbidden', happened: `requests for license returned 403: ${said}`, advice: 'a' }] });

test('a message of the service that changes with each response makes a few series an hour, and names the missing right', () => {
  const labels = new WarningLabels();
  const texts = new Set<string>();
  for (let now = 0; now < DAY; now += MINUTE) {
    const [warning, ...others] = labels.of([forbidden(`no can_read_license, request ${now}`)], now);
    expect(others).toEqual([]);
    expect(warning?.happened).toContain('can_read_license');
    texts.add(String(warning?.happened));
  }
  expect(texts.size).toBeLessThan(40);
});

test('a message that names another right after a while is shown at once, and so is one of a warning that has begun again', () => {
  const labels = new WarningLabels();
  const shown = (now: number, ...saying: readonly string[]) =>
    labels.of(saying.map(forbidden), now).map(({ happened }) => happened?.split(': ')[1]);
  expect(shown(0, 'no can_read_license')).toEqual(['no can_read_license']);
  expect(shown(2 * 60 * MINUTE, 'no can_read_account')).toEqual(['no can_read_account']);
  expect(shown(2 * 60 * MINUTE + 1, 'no can_read_license')).toEqual(['no can_read_account']);
  expect(shown(3 * 60 * MINUTE)).toEqual([]);
  expect(shown(3 * 60 * MINUTE + 1, 'no can_read_license')).toEqual(['no can_read_license']);
});
