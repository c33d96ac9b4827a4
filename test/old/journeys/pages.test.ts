// Only here: shell blocks of pages that nobody has run.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../support/program.ts';
import { blocks, blocksOf } from './pages.ts';

const container =
  'needs a container engine and base images from a registry; the journeys of the other platforms run the same settings';

/** Shell blocks of the pages that no journey runs, with the reason. */
const notRun: Readonly<Record<string, string>> = {
  'README.md, Try it, 1': 'the demo, which test/process starts',
  'docs/contributing.md, Contributing, 1':
    'for developers: it lists the commands of package.json, the tests among them',
  'docs/install/containers.md, A small site with Compose, 1':
    'needs a container engine; test/deploy reads the file, and the journey of the image runs the same image and settings',
  'docs/install/containers.md, Container image, 3': 'pushes to a registry that is an example',
  'docs/doctor.md, The doctor, 1': 'test/doctor runs the doctor on every variant of the services',
  'docs/doctor.md, The report, 1': 'test/doctor writes the report and reads it',
  'docs/limits.md, Does the fleet fit?, 1': 'a plan without configuration, which test/process prints',
  'docs/troubleshooting.md, Prometheus has no target, or the target is down, 1':
    'requests a page from an example address',
  'docs/quickstart-kubernetes.md, 1. Build the image, 1': container,
  'docs/quickstart-kubernetes.md, 5. Look at it, 1': 'forwards a port of a cluster with nodes',
  'docs/install/containers.md, Remove, 1': container,
  'docs/install/containers.md, Remove, 2': container,
  'docs/install/containers.md, Upgrade, 1': container,
  'docs/install/containers.md, Upgrade, 2': container,
  'docs/install/containers.md, Upgrade, 3': container,
  'docs/install/containers.md, Podman and systemd, 1': container,
  'docs/install/containers.md, Without internet access, 1': container,
  'docs/install/containers.md, Without internet access, 2': 'pushes to a registry that is an example',
  'docs/install/containers.md, Verify a release, 1': 'asks for a release, of which there is none yet',
  'docs/history.md, History before the first start, 1':
    'asks an account for its history; test/history runs --backfill and promtool on what it prints',
  'docs/concepts.md, One name in both services, 1': 'a setting with example ids; test/config reads such settings',
  'docs/runbooks/README.md, Reach it, 1': 'forwards a port of a cluster with nodes',
  'docs/runbooks/README.md, Reach it, 2': 'forwards a port of a cluster with nodes',
  'docs/runbooks/README.md, Reach it, 3': 'runs the doctor in a pod, as the journey of the quick start does',
  'docs/status.md, The JSON, 1': 'asks a running exporter; test/pages reads the same document',
  'deploy/prometheus/README.md, Other collectors, 1': 'test/deploy runs it with vmagent',
  'deploy/prometheus/README.md, Prometheus: scrape job, rules, alerts, 1': 'test/deploy/prometheus checks both files',
  'grafana/README.md, Provisioning, 1': 'needs the image of Grafana, which this project neither ships nor builds',
};

/* Every shell block of a page is run by a journey, or is in the list of those that none runs, with the reason. */

const journeys = readdirSync(join(root, 'test/journeys')).filter((name) => name.endsWith('.all.test.ts'));
const texts = journeys.map((name) => readFileSync(join(root, 'test/journeys', name), 'utf8'));

/** Whether a journey names the block. */
const isRun = (name: string) => texts.some((text) => text.includes(`'${name}'`));

test.each([...blocks.keys()])('%s is run, or listed with a reason', (name) => {
  expect([isRun(name), name in notRun].filter(Boolean)).toHaveLength(1);
});

test('the list has no block that is no more', () => {
  expect(Object.keys(notRun).filter((name) => !blocks.has(name))).toEqual([]);
});

test('a block is known by its page, the heading above it, and its number below that', () => {
  const text = '# A\n\n```sh\none\n```\n\n```yaml\nno: shell\n```\n\n## B\n\n```sh\ntwo\n```\n\n```sh\nthree\n```\n';
  expect(blocksOf('p.md', text)).toEqual([
    { name: 'p.md, A, 1', text: 'one\n' },
    { name: 'p.md, B, 1', text: 'two\n' },
    { name: 'p.md, B, 2', text: 'three\n' },
  ]);
});
