import { accountOperations } from './account/account.ts';
import { activityLogOperations } from './account/activity-logs.ts';
import { cloudCredentialOperations } from './account/cloud-credentials.ts';
import { gfaKeyOperations } from './account/gfa-keys.ts';
import { iamOperations } from './account/iam.ts';
import { indexingOperations } from './account/indexing.ts';
import { jobOperations } from './account/jobs.ts';
import { notificationOperations } from './account/notifications.ts';
import { softwareOperations } from './account/software.ts';
import { stackOperations } from './account/stacks.ts';
import { edgeOperations } from './appliances/edges.ts';
import { fiqOperations } from './appliances/fiq.ts';
import { serialOperations } from './appliances/serials.ts';
import { applianceTelemetryOperations } from './appliances/telemetry.ts';
import type { DemoOperation, Parameters } from './operation.ts';
import { volumeConnectionOperations } from './volumes/connections.ts';
import { volumeTelemetryOperations } from './volumes/telemetry.ts';

/** The read operations of the portal that the exporter requests, without those of the token. */
const readOperations: readonly DemoOperation[] = [
  ...accountOperations,
  ...activityLogOperations,
  ...indexingOperations,
  ...cloudCredentialOperations,
  ...edgeOperations,
  ...fiqOperations,
  ...gfaKeyOperations,
  ...stackOperations,
  ...iamOperations,
  ...notificationOperations,
  ...jobOperations,
  ...serialOperations,
  ...softwareOperations,
  ...volumeConnectionOperations,
  ...applianceTelemetryOperations,
  ...volumeTelemetryOperations,
];

/** An operation found by its path, with the identifiers of the path. */
export interface Found {
  readonly operation: DemoOperation;
  readonly parameters: Parameters;
}

const patterns = readOperations.map((operation) => ({ operation, pattern: patternOf(operation.path) }));

/** The operation of a path; if several match, the one with the fewest identifiers. */
export function operationAt(path: string): Found | undefined {
  const found = patterns.flatMap(({ operation, pattern }) => {
    const groups = pattern.exec(path);
    return groups === null ? [] : [{ operation, parameters: decoded(groups.groups ?? {}) }];
  });
  return found.toSorted((one, other) => size(one.parameters) - size(other.parameters))[0];
}

function patternOf(template: string): RegExp {
  return new RegExp(`^${template.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`);
}

function decoded(groups: Readonly<Record<string, string>>): Parameters {
  return Object.fromEntries(Object.entries(groups).map(([name, value]) => [name, decodedText(value)]));
}

/** Undefined for a path with invalid encoding. */
function decodedText(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

function size(parameters: Parameters): number {
  return Object.keys(parameters).length;
}
