import type { Family } from '../../../metrics/family.ts';
import { enumLabelValue, labelValue, type Sample } from '../../../metrics/samples.ts';
import { infoOne, recordOne } from '../../../metrics/units.ts';
import { compareVersions, versionOf } from '../appliances/builds.ts';
import type { AccountResponse, CollectorDefinition } from '../collector-definition.ts';

const downloads = {
  name: 'filer_software_downloads',
  help: 'Software that the portal offers for download, by type and platform.',
  from: recordOne,
  fields: { display_name: {} },
  enumLabels: { type: { field: 'appliance_type' }, platform: { field: 'platform' } },
} as const satisfies Family;

const newest = {
  name: 'filer_software_newest_info',
  help: 'Always 1: the newest version that the portal offers, by type.',
  from: infoOne,
  fields: { version: {} },
  fieldLabels: { version: 'version' },
  enumLabels: { type: { field: 'appliance_type' } },
} as const satisfies Family;

/** The most types of software that become label values. The portal documents nine. */
const MAX_TYPES = 50;

export const software: CollectorDefinition = {
  name: 'software',
  intervalMs: 3_600_000,
  tables: [{ source: 'GET /software/downloads', commonLabels: [], families: [newest] }],
  reads: [
    {
      path: '/software/downloads',
      rows: { needs: 'appliance_type', counts: [downloads] },
      create: () => ({ read: newestVersions }),
    },
  ],
};

async function newestVersions({ records, reportDrop }: AccountResponse): Promise<Sample[]> {
  const newestOf = new Map<string, string>();
  for await (const { appliance_type, version } of records) {
    const type = enumLabelValue(appliance_type);
    if (type === '') continue;
    const offered = labelValue(version);
    const newestVersion = newestOf.get(type);
    if (versionOf(offered) === undefined) {
      if (version !== null && version !== undefined) reportDrop('invalid', 'version');
    } else if (newestVersion === undefined || (compareVersions(offered, newestVersion) ?? 0) > 0)
      newestOf.set(type, offered);
  }
  return [...newestOf]
    .slice(0, MAX_TYPES)
    .map(([type, version]) => ({ name: newest.name, labels: { type, version }, value: 1 }));
}
