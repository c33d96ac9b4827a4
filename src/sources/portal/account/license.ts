import { isFields } from '../../../metrics/family.ts';
import { toSamples } from '../../../metrics/samples.ts';
import { ShapeError } from '../../../runtime/errors.ts';
import { type AccountRead, accountTask, accountTasks, type CollectorRow } from '../collector-row.ts';
import { objectOf } from '../records.ts';
import { accountTable, consumptionTable, licenseTable, licenseTables } from './license-tables.ts';

/** The account's subscription, its end, and its use. */
export const license: CollectorRow = {
  name: 'license',
  intervalMs: 3_600_000,
  tables: licenseTables,
  cost: { account: 3, perAppliance: 0, perVolume: 0 },
  size: { account: 21 },
  create: (parts, intervalMs) => {
    if (parts.shard.index !== 0) return () => [];
    const task = accountTask(parts, intervalMs, 'account_license', async (note, signal) => {
      const body = await parts.licence.read(signal);
      return toSamples(licenseTable, [objectOf(body, 'GET /account/license')], {}, note);
    });
    const others = accountTasks(parts, intervalMs, [account, consumption]);
    return () => [{ ...task, first: true }, ...others()];
  },
};

const account: AccountRead = {
  operation: 'account',
  path: '/account',
  size: 'one',
  read(body, note) {
    return toSamples(accountTable, [objectOf(body, 'GET /account')], {}, note);
  },
};

const consumption: AccountRead = {
  operation: 'account_ai_activate',
  path: '/account/ai_activate',
  size: 'one',
  read(body, note) {
    const { mcp } = objectOf(body, 'GET /account/ai_activate');
    if (!isFields(mcp)) throw new ShapeError('reading GET /account/ai_activate: mcp: expected an object');
    return toSamples(consumptionTable, [mcp], {}, note);
  },
};
