import { expect, test } from 'vitest';
import { fieldNames } from '../../../../src/metrics/family.ts';
import { documentedData } from '../../../../src/services/gfa/doctor/documented.ts';
import { gfa } from '../../../../src/services/gfa/service.ts';

const FILE = 'src/services/gfa/documented.ts';

/** The documented fields of `info` and of the records of a group, as JSON. */
const { info, metrics } = documentedData({ metrics: {} }) as unknown as {
  readonly info: object;
  readonly metrics: Readonly<Record<string, readonly object[]>>;
};

const exported = gfa.tables.flatMap(({ source, families }) =>
  families.flatMap(fieldNames).map((field) => [field, source.replace(/^GET \/data, (\w+).*$/, '$1')] as const),
);

test.each(exported)('the exported field %s of %s is documented, so that the doctor knows it', (field, group) => {
  const known = group === 'info' ? [info] : group === 'every' ? Object.values(metrics).flat() : (metrics[group] ?? []);
  const advice = `add "${field}: 'integer'", or what its form is, to ${group} in ${FILE}`;
  expect(
    known.every((fields) => field in fields),
    advice,
  ).toBe(true);
});
