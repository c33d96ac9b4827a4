import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { textOf } from '../../grafana/src/dashboards.ts';
import { dashboards } from '../support/dashboards.ts';
import { root } from '../support/program.ts';

/* The dashboards are built from grafana/src. `npm run docs` runs this with --update, which writes the files anew. */

const folder = join(root, 'grafana', 'dashboards');

describe('grafana/dashboards', () => {
  test.each(dashboards.map((dashboard) => [`${dashboard.uid}.json`, dashboard] as const))(
    '%s is what its source builds',
    async (file, dashboard) => {
      await expect(textOf(dashboard)).toMatchFileSnapshot(join(folder, file));
    },
  );

  test('holds no other files', () => {
    const built = dashboards.map(({ uid }) => `${uid}.json`);
    expect(readdirSync(folder).filter((file) => !built.includes(file))).toEqual([]);
  });
});
