import type { Table } from '../../metrics/family.ts';
import { credentials } from './account/credentials.ts';
import { gfaKeys } from './account/gfa-keys.ts';
import { health } from './account/health.ts';
import { iam } from './account/iam.ts';
import { indexingTables } from './account/inventories-tables.ts';
import { jobTables } from './account/jobs-tables.ts';
import { licenseTables } from './account/license-tables.ts';
import { notificationTables } from './account/notifications-tables.ts';
import { software } from './account/software.ts';
import { stacks } from './account/stacks.ts';
import { edgeTables } from './appliances/edges-tables.ts';
import { fiqTables } from './appliances/fiq-tables.ts';
import type { CollectorRow } from './collector-row.ts';
import { connectionTables } from './volumes/connections-table.ts';
import { snapshotTables } from './volumes/snapshot-tables.ts';

/** Every collector of the portal beside the telemetry series. Add one here and nowhere else. */
export const collectorRows: readonly CollectorRow[] = [credentials, gfaKeys, health, iam, software, stacks];

/** Every table of the portal's collectors, in the order of the exposition. */
export const portalTables: readonly Table[] = [
  ...connectionTables,
  ...snapshotTables,
  ...edgeTables,
  ...fiqTables,
  ...licenseTables,
  ...notificationTables,
  ...jobTables,
  ...indexingTables,
  ...collectorRows.flatMap(({ tables }) => tables),
];
