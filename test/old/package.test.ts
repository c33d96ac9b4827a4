import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory } from './support/program.ts';
import { defaultOf } from './support/variables.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

interface Manifest {
  readonly license: string;
  readonly version: string;
  readonly scripts: Readonly<Record<string, string>>;
  readonly engines: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies: Readonly<Record<string, string>>;
}

interface LockedPackage {
  readonly version?: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly license?: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly hasInstallScript?: boolean;
  readonly engines?: Readonly<Record<string, string>>;
}

const manifest = JSON.parse(textOf('package.json')) as Manifest;
const lock = JSON.parse(textOf('package-lock.json')) as {
  readonly version: string;
  readonly packages: Readonly<Record<string, LockedPackage>>;
};
const locked = Object.entries(lock.packages).filter(([path]) => path !== '');

describe('the dependencies', () => {
  test('are these and no others; the one for terminals may be missing', () => {
    const fixed = ['env-schema', 'p-limit', 'pino', 'prom-client', 'undici'];
    // The web configuration's file format and its schema (env-schema has the same package), and its password hashes.
    const forTheWebConfiguration = ['ajv', 'bcryptjs', 'yaml'];
    // The encoding of remote write.
    const forRemoteWrite = ['@bufbuild/protobuf', 'snappyjs'];
    const all = [...fixed, ...forTheWebConfiguration, ...forRemoteWrite];
    expect(Object.keys(manifest.dependencies)).toEqual(all.toSorted());
    expect(Object.keys(manifest.optionalDependencies)).toEqual(['pino-pretty']);
  });

  test('[supply-chain] are under licences that allow every use', () => {
    const production = locked.filter(([, { dev, optional }]) => !dev && !optional);
    const licences = new Set(production.map(([, { license }]) => license));
    expect(
      [...licences].filter(
        (licence) => !/^(?:MIT|ISC|BSD-\d-Clause|Apache-2\.0|\(Apache-2\.0 AND BSD-3-Clause\))$/.test(licence ?? ''),
      ),
    ).toEqual([]);
  });

  test('run no script while they are installed, but for development', () => {
    const scripted = locked.filter(([, { dev, hasInstallScript }]) => hasInstallScript && !dev).map(([path]) => path);
    expect(scripted).toEqual([]);
    expect(Object.keys(manifest.scripts).filter((name) => /^(?:pre|post)?(?:install|prepare)$/.test(name))).toEqual([]);
  });
});

describe.each(['.', 'test/tools'])('in %s', (folder) => {
  test('npm ci warns of nothing', () => {
    const copy = temporaryDirectory();
    for (const name of ['package.json', 'package-lock.json']) cpSync(join(root, folder, name), join(copy, name));
    const { status, stderr } = spawnSync('npm', ['ci', '--dry-run', '--offline'], { cwd: copy, encoding: 'utf8' });
    // What the user's own configuration is warned of is not ours.
    const warnings = stderr.split('\n').filter((line) => line !== '' && !/^npm warn Unknown \w+ config/.test(line));
    expect({ status, warnings }).toEqual({ status: 0, warnings: [] });
  });

  test('every version is pinned exactly, locked by content and takes no registry for granted', () => {
    const manifest = JSON.parse(textOf(join(folder, 'package.json'))) as Manifest;
    const { packages, version: own } = JSON.parse(textOf(join(folder, 'package-lock.json'))) as typeof lock;
    expect(own).toBe(manifest.version);
    const all = { ...manifest.dependencies, ...manifest.devDependencies, ...manifest.optionalDependencies };
    for (const [name, version] of Object.entries(all)) {
      expect(version, name).toMatch(/^(?:npm:.*@)?\d+\.\d+\.\d+(?:-\d+)?$/);
      expect(packages[`node_modules/${name}`]?.version, name).toBe(version.replace(/^npm:.*@/, ''));
    }
    const fetched = Object.entries(packages).filter(([path]) => path !== '');
    expect(fetched.filter(([, { integrity }]) => !integrity?.startsWith('sha512-'))).toEqual([]);
    expect(fetched.filter(([, { resolved }]) => resolved !== undefined)).toEqual([]);
  });
});

describe('Node.js', () => {
  test('is asked for from a version on which the HTTP client runs', () => {
    expect(manifest.engines.node).toBe('>=20.19.2');
    expect(lock.packages['node_modules/undici']?.engines?.node).toBe('>=20.18.1');
    expect(textOf('README.md')).toContain(`Node.js ${manifest.engines.node?.slice(2)} or newer`);
  });

  test('is the same line for developers, for the image and for the second run of the tests', () => {
    const line = textOf('.nvmrc').trim();
    expect(line).toMatch(/^\d+$/);
    expect(textOf('Dockerfile')).toMatch(new RegExp(`^ARG NODE_IMAGE=\\S+/node:${line}-`, 'm'));
    expect(textOf('.ci/run')).toContain(`\nlts=${line}\n`);
  });
});

describe('the image', () => {
  const dockerfile = textOf('Dockerfile');

  test('runs as a number that is not root, and gets signals itself', () => {
    expect(dockerfile).toMatch(/^USER [1-9]\d*:[1-9]\d*$/m);
    expect(dockerfile).toMatch(/^ENTRYPOINT \["node", "--disable-sigusr1", "dist\/main\.js"\]$/m);
  });

  test('names the port that is listened on by default, and the version', () => {
    expect(dockerfile).toMatch(new RegExp(`^EXPOSE ${defaultOf('LISTEN_ADDRESS').slice(1)}$`, 'm'));
    expect(dockerfile).toMatch(new RegExp(`^ARG VERSION=${manifest.version.replaceAll('.', '\\.')}$`, 'm'));
  });

  test('is built from what the build takes and nothing else', () => {
    const lines = textOf('.dockerignore')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'));
    const allowed = lines.slice(1).map((line) => line.replace(/^!/, ''));
    const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, names = '']) =>
      names.split(' '),
    );
    expect(lines[0]).toBe('*');
    expect(copied.toSorted()).toEqual(allowed.toSorted());
  });
});

test('the licence is the Apache License 2.0, word for word', () => {
  expect(manifest.license).toBe('Apache-2.0');
  expect(createHash('sha256').update(textOf('LICENSE')).digest('hex')).toBe(
    'cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30',
  );
});

test('the changelog knows the version', () => {
  expect(textOf('CHANGELOG.md')).toContain(`## ${manifest.version}`);
});

function textOf(path: string): string {
  return existsSync(join(root, path)) ? readFileSync(join(root, path), 'utf8') : '';
}
