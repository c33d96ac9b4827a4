import type { Family } from '../../../metrics/family.ts';
import { enumLabelValue, labelValue, type Sample } from '../../../metrics/samples.ts';
import { infoOne, recordOne, unitless } from '../../../metrics/units.ts';
import { iterateInSlices } from '../../../runtime/slices.ts';
import { compareVersions, versionOf } from '../appliances/builds.ts';
import { applianceLabels } from '../appliances/series-families.ts';
import type { AccountResponse, CollectorDefinition } from '../collector-definition.ts';
import type { PortalContext } from '../context.ts';

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

const outdated = {
  name: 'filer_appliance_software_outdated',
  help: '1 when the portal offers a newer version for the appliance’s type than its build, else 0.',
  from: unitless,
  fields: { version: {} },
} as const satisfies Family;

/** The most types of software that become label values. The portal documents nine. */
const MAX_TYPES = 50;

export const software: CollectorDefinition = {
  name: 'software',
  intervalMs: 3_600_000,
  tables: [
    { source: 'GET /software/downloads', commonLabels: [], families: [newest] },
    { source: 'GET /software/downloads, GET /edges', commonLabels: applianceLabels, families: [outdated] },
  ],
  sampleCounts: { account: 51 },
  waitsForInventory: true,
  reads: [
    {
      path: '/software/downloads',
      rows: { needs: 'appliance_type', counts: [downloads] },
      create: (context) => ({ read: (response) => compareWithOffers(response, context) }),
    },
  ],
};

async function compareWithOffers(
  { records, reportDrop }: AccountResponse,
  { appliances, clock }: PortalContext,
): Promise<Sample[]> {
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
  const samples: Sample[] = [...newestOf]
    .slice(0, MAX_TYPES)
    .map(([type, version]) => ({ name: newest.name, labels: { type, version }, value: 1 }));
  for await (const { serial, name, type, build } of iterateInSlices(appliances.all(), clock)) {
    const order = compareVersions(newestOf.get(enumLabelValue(type)) ?? '', build);
    if (order === undefined) continue;
    samples.push({ name: outdated.name, labels: { serial, filer: name }, value: order > 0 ? 1 : 0 });
  }
  return samples;
}
