import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { root, temporaryDirectory } from '../support/program.ts';
import { hasPrometheus } from '../support/prometheus.ts';
import { defaultOf } from '../support/variables.ts';

interface Service {
  readonly image: string;
  readonly profiles?: readonly string[];
  readonly build?: { readonly context: string };
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly env_file?: readonly string[];
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly depends_on?: readonly string[] | Readonly<Record<string, { readonly condition: string }>>;
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, unknown>>;
}

const folder = join(root, 'deploy', 'compose');
const composeIn = (name: string) => parse(readFileSync(join(folder, name), 'utf8'), { merge: true }) as Compose;
const compose = composeIn('compose.yaml');
const site = composeIn('site.yaml');
const files = { 'the demo': compose, 'a site': site };

/** What of the Compose specification we use, and nothing else: a misspelt key is a key that it does not know. */
const texts = { type: 'array', items: { type: 'string' }, uniqueItems: true };
const object = (properties: object, required: readonly string[] = []) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
  patternProperties: { '^x-': {} },
});
const condition = { enum: ['service_started', 'service_healthy', 'service_completed_successfully'] };
const service = object(
  {
    build: object({ context: { type: 'string' } }, ['context']),
    image: { type: 'string', pattern: '^[a-z0-9./-]+:[A-Za-z0-9_.-]+$' },
    command: texts,
    env_file: texts,
    profiles: texts,
    mem_limit: { type: 'string', pattern: '^[0-9]+m$' },
    environment: { type: 'object', additionalProperties: { type: 'string' } },
    volumes: texts,
    tmpfs: texts,
    ports: { ...texts, items: { type: 'string', pattern: '^127\\.0\\.0\\.1:\\d+:\\d+$' } },
    depends_on: {
      anyOf: [texts, { type: 'object', additionalProperties: object({ condition }, ['condition']) }],
    },
    read_only: { const: true },
    cap_drop: { const: ['ALL'] },
    security_opt: { const: ['no-new-privileges:true'] },
    restart: { enum: ['no', 'always', 'on-failure', 'unless-stopped'] },
  },
  ['image', 'read_only', 'cap_drop', 'security_opt'],
);
const schema = object(
  {
    name: { type: 'string', pattern: '^[a-z0-9][a-z0-9_-]*$' },
    services: { type: 'object', additionalProperties: service },
    volumes: { type: 'object', additionalProperties: object({}) },
  },
  ['services'],
);

test.each(Object.entries(files))(
  '%s is as the Compose specification has it, and every service hardened',
  (_, compose) => {
    const validate = new Ajv2020({ allErrors: true, allowUnionTypes: true }).compile(schema);
    validate(compose);
    expect(validate.errors ?? []).toEqual([]);
    const misspelt = structuredClone(compose) as unknown as { services: Record<string, Record<string, unknown>> };
    misspelt.services.exporter = { ...misspelt.services.exporter, port: [] };
    expect(validate(misspelt)).toBe(false);
  },
);

test('the demo needs exporter, Prometheus, Alertmanager and Grafana', () => {
  expect(Object.keys(compose.services)).toEqual(['exporter', 'prometheus', 'alertmanager', 'grafana']);
  expect(compose.services.exporter?.command).toEqual(['--demo']);
  expect(existsSync(join(folder, compose.services.exporter?.build?.context ?? '', 'Dockerfile'))).toBe(true);
  expect(compose.services.exporter?.ports?.[0]).toContain(defaultOf('LISTEN_ADDRESS'));
});

test('a site has its secrets as files, its state over restarts, and the exporter alone unless asked', () => {
  const { exporter, ...others } = site.services;
  // Docker Compose expands ~ everywhere, podman-compose not in env_file.
  const home = '$HOME/filer-exporter';
  expect(exporter?.env_file).toEqual([`${home}/settings.env`]);
  expect(exporter?.volumes).toContain(`${home}/secrets:/run/secrets:ro`);
  const { STATE_FILE = '' } = exporter?.environment ?? {};
  expect(exporter?.volumes).toContain(`${home}/state:${dirname(STATE_FILE)}`);
  expect(Object.values(others).filter(({ profiles }) => profiles?.[0] !== 'monitoring')).toEqual([]);
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  expect(exporter?.image).toBe(`filer-exporter:${version}`);
});

const services = Object.entries(files).flatMap(([name, file]) =>
  Object.entries(file.services).map(([service, parts]) => [`${service} of ${name}`, parts, file] as const),
);

describe.each(services)('%s', (_, { volumes = [], depends_on: others = [] }, compose) => {
  test('is given files and folders that exist, and volumes that are declared', () => {
    const sources = volumes.map((volume) => volume.split(':')[0] ?? '');
    const missing = sources.filter((source) =>
      source.startsWith('.')
        ? !existsSync(join(folder, source))
        : !source.startsWith('$HOME') && !(source in compose.volumes),
    );
    expect(missing).toEqual([]);
    // A file that is mounted where its name says something else, or a folder in the place of a file, is a slip.
    for (const volume of volumes.filter((text) => text.startsWith('.') && /\.[a-z]+:/.test(text))) {
      const [source = '', target = ''] = volume.split(':');
      const isCalled = basename(source).endsWith(basename(target));
      expect([isCalled, statSync(join(folder, source)).isFile()]).toEqual([true, true]);
    }
  });

  test('waits for services that there are', () => {
    const names = Array.isArray(others) ? others : Object.keys(others);
    expect(names.filter((name) => !(name in compose.services))).toEqual([]);
  });
});

test('Grafana finds the data source and the dashboards where they are mounted', () => {
  const targets = (compose.services.grafana?.volumes ?? []).map((volume) => volume.split(':')[1]);
  const provider = parse(
    readFileSync(join(root, 'grafana', 'provisioning', 'dashboards', 'filer-exporter.yaml'), 'utf8'),
  );
  expect(targets).toContain(provider.providers[0].options.path);
  const source = parse(readFileSync(join(root, 'grafana', 'provisioning', 'datasources', 'prometheus.yaml'), 'utf8'));
  expect(source.datasources[0].url).toBe('$PROMETHEUS_URL');
  expect(compose.services.grafana?.environment?.PROMETHEUS_URL).toBe('http://prometheus:9090');
});

test.runIf(hasPrometheus).each(Object.entries(files))(
  'Prometheus of %s takes its configuration with the rules as they are mounted',
  (_, compose) => {
    const etc = temporaryDirectory();
    for (const volume of compose.services.prometheus?.volumes ?? []) {
      const [source = '', target = ''] = volume.split(':');
      if (source.startsWith('.')) cpSync(join(folder, source), join(etc, basename(target)));
    }
    const said = execFileSync('promtool', ['check', 'config', join(etc, 'prometheus.yml')], { encoding: 'utf8' });
    expect(said).toContain('1 rule files found');
    expect(said).toMatch(/SUCCESS: \d{2,} rules found/);
    const config = parse(readFileSync(join(etc, 'prometheus.yml'), 'utf8'));
    expect(config.scrape_configs[0].static_configs[0].targets).toEqual([`exporter${defaultOf('LISTEN_ADDRESS')}`]);
  },
);
