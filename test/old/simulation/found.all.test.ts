// Only here: plans that found something once.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'vitest';
import { type Plan, play } from '../harness/plan.ts';
import { root } from '../support/program.ts';

const folder = join(root, 'test/simulation/found');

test.each(readdirSync(folder))(
  '%s: what is shown is so, and all is well afterwards',
  async (name) => {
    await play(JSON.parse(readFileSync(join(folder, name), 'utf8')) as Plan);
  },
  240_000,
);
