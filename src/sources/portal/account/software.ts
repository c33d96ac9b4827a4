import type { Family } from '../../../metrics/family.ts';
import { type Sample, text, wordOf } from '../../../metrics/samples.ts';
import { Tally } from '../../../metrics/tally.ts';
import { plain, presence, records } from '../../../metrics/units.ts';
import { inTurns } from '../../../runtime/slices.ts';
import { compareVersions, versionOf } from '../appliances/builds.ts';
import { applianceLabels } from '../appliances/series.ts';
import type { CollectorRow } from '../collector-row.ts';

const downloads = {
  name: 'filer_software_downloads',
  help: 'Software that the portal offers for download, by type and platform.',
  from: records,
  fields: { display_name: {} },
  wordsFrom: { type: { field: 'appliance_type' }, platform: { field: 'platform' } },
} as const satisfies Family;

const newest = {
  name: 'filer_software_newest_info',
  help: 'Always 1: the newest version that the portal offers, by type.',
  from: presence,
  fields: { version: {} },
  labelsFrom: { version: 'version' },
  wordsFrom: { type: { field: 'appliance_type' } },
} as const satisfies Family;

const outdated = {
  name: 'filer_appliance_software_outdated',
  help: '1 when the portal offers a newer version for the appliance’s type than its build, else 0.',
  from: plain,
  fields: { version: {} },
} as const satisfies Family;

/** The most types of software as label values; the portal documents nine. */
const MOST_TYPES = 50;

export const software: CollectorRow = {
  name: 'software',
  intervalMs: 3_600_000,
  tables: [
    { source: 'GET /software/downloads', subject: [], families: [downloads, newest] },
    { source: 'GET /software/downloads, GET /edges', subject: applianceLabels, families: [outdated] },
  ],
  size: { account: 51 },
  namesAppliances: true,
  reads: ({ appliances, clock }) => [
    {
      path: '/software/downloads',
      async read({ records, note }) {
        const count = new Tally(downloads);
        const newestOf = new Map<string, string>();
        for await (const download of records) {
          const { appliance_type, version } = download;
          const type = wordOf(appliance_type);
          if (type === '') {
            note('record', 'appliance_type');
            continue;
          }
          count.add(download);
          const offered = text(version);
          const known = newestOf.get(type);
          if (versionOf(offered) === undefined) {
            if (version !== null && version !== undefined) note('invalid', 'version');
          } else if (known === undefined || (compareVersions(offered, known) ?? 0) > 0) newestOf.set(type, offered);
        }
        const infos = [...newestOf]
          .slice(0, MOST_TYPES)
          .map(([type, version]) => ({ name: newest.name, labels: { type, version }, value: 1 }));
        const samples: Sample[] = [...count.samples(), ...infos];
        for await (const { serial, name, type, build } of inTurns(appliances.all(), clock)) {
          const order = compareVersions(newestOf.get(wordOf(type)) ?? '', build);
          if (order === undefined) continue;
          samples.push({ name: outdated.name, labels: { serial, filer: name }, value: order > 0 ? 1 : 0 });
        }
        return samples;
      },
    },
  ],
};
