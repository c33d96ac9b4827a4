import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { root } from '../support/program.ts';

/* Only here: the mixin, evaluated by a jsonnet, is what is shipped beside it. */

interface Jsonnet {
  evaluateSnippet(snippet: string): string;
}

const Vm = createRequire(join(root, 'test/tools/package.json'))('@arakoodev/jsonnet') as new () => Jsonnet;
const mixin = join(root, 'deploy/mixin/mixin.libsonnet');
const read = (file: string) => readFileSync(join(dirname(mixin), file), 'utf8');

/** A jsonnet in WebAssembly opens no files, so each import is put in its place. */
const source = readFileSync(mixin, 'utf8')
  .replaceAll(/importstr '([^']+)'/g, (_, file: string) => JSON.stringify(read(file)))
  .replaceAll(/import '([^']+)'/g, (_, file: string) => read(file));

const evaluated = (field: string): unknown => JSON.parse(new Vm().evaluateSnippet(`(${source}).${field}`));

interface Rules {
  readonly groups: readonly { readonly name: string }[];
}

test('the mixin has every rule and every alert as shipped', () => {
  const { groups } = parse(read('../prometheus/filer-exporter.rules.yml')) as Rules;
  const inMixin = ['prometheusRules', 'prometheusAlerts'].map((field) => evaluated(field) as Rules);
  const byName = (all: Rules['groups']) => all.toSorted((one, other) => one.name.localeCompare(other.name));
  expect(byName(inMixin.flatMap((part) => part.groups))).toEqual(byName(groups));
  expect(JSON.stringify(inMixin[0])).not.toContain('"alert"');
  expect(JSON.stringify(inMixin[1])).not.toContain('"record"');
});

test('the mixin has every board as shipped', () => {
  const folder = join(root, 'grafana/dashboards');
  const boards = readdirSync(folder).map((file) => [file, JSON.parse(readFileSync(join(folder, file), 'utf8'))]);
  expect(evaluated('grafanaDashboards')).toEqual(Object.fromEntries(boards));
});
