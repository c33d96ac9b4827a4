import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseEnv } from 'node:util';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import { catalog, variableRows } from '../src/catalog.ts';
import { usage } from '../src/cli/help.ts';
import { formatDuration } from '../src/config/duration.ts';
import { fileVariable, isSecret } from '../src/config/section.ts';
import { gfaSection } from '../src/services/gfa/configuration.ts';
import { gfaQuestions } from '../src/services/gfa/doctor/questions.ts';
import { ECONOMY_REPLACES, STANDARD_SERIES } from '../src/services/portal/appliances/series-operations.ts';
import { portalSection } from '../src/services/portal/configuration.ts';
import { portalQuestions } from '../src/services/portal/doctor/questions.ts';
import { createPlan } from '../src/services/portal/planning.ts';
import { portalCollectors } from '../src/services/portal/variables.ts';
import { documents } from './support/documents.ts';
import { loadConfig } from './support/load-config.ts';

/* The documentation says what the code does. `npm run docs` writes what is generated. */

const root = fileURLToPath(new URL('..', import.meta.url));
const readme = fileText('README.md');
const configuration = fileText('docs/configuration.md');

describe('what `npm run docs` writes', () => {
  test.each(documents)('$path is what the code says', ({ path, text }) => {
    expect(fileText(path) === text(), `${path} is old: run npm run docs`).toBe(true);
  });

  test.each(['grafana/dashboards', 'deploy/helm/filer-exporter/files'])('%s holds nothing else', (folder) => {
    const generated = documents.map(({ path }) => path).filter((path) => path.startsWith(folder));
    expect(filesIn(folder).toSorted()).toEqual(generated.toSorted());
  });

  test('the sections of docs/metrics.md are the catalogue, each metric once', () => {
    const sections = [...fileText('docs/metrics.md').matchAll(/^### `(.+)`$/gm)].map(([, name]) => name);
    expect(sections).toHaveLength(catalog.length);
    expect(new Set(sections)).toEqual(new Set(catalog.map(({ name }) => name)));
  });
});

test('docs/doctor.md has a row for each question and no other', () => {
  const tables = fileText('docs/doctor.md').split('## Open questions')[1] ?? '';
  const rows = [...tables.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name);
  expect(rows).toEqual(Object.keys({ ...gfaQuestions, ...portalQuestions }));
});

describe.each(pagesToRead())('%s', (page) => {
  const text = fileText(page);

  test('every link to another place of the repository leads somewhere', () => {
    const dead = linksIn(text).filter((link) => !leadsSomewhere(link, page));
    expect(dead).toEqual([]);
  });

  // Code to add has names that are not there yet; test/services/adding.test.ts runs it.
  const prose = text.replaceAll(/```ts\n[\s\S]*?```/g, '');

  test('every metric that it names exists', () => {
    const unknown = [...prose.matchAll(METRIC)].map(([name]) => name).filter((name) => !isMetric(name));
    expect(unknown).toEqual([]);
  });

  test('every environment variable that it names exists', () => {
    const unknown = [...prose.matchAll(VARIABLE)].map(([name]) => name).filter((name) => !VARIABLES.has(name));
    expect(unknown).toEqual([]);
  });

  test('every option that it names exists', () => {
    const named = [...text.matchAll(/(?:`|dist\/main\.js |^(?:out\/)?filer-exporter )(--[a-z-]+(?:\.[a-z-]+)*)/gm)].map(
      ([, option = '']) => option,
    );
    const known = new Set(['--config', ...OPTIONS, ...RULES_OPTIONS]);
    expect(named.filter((option) => !known.has(option))).toEqual([]);
  });
});

test('docs/configuration.md names every option of the program', () => {
  expect([...OPTIONS].filter((option) => !configuration.includes(`\`${option}`))).toEqual([]);
});

describe('the examples', () => {
  test('the environment of docs/configuration.md is a good configuration', () => {
    const config = configOf(fenced('env'));
    expect(gfaSection.of(config)?.url).toBe('https://acceleration.example.com/v1');
    expect(portalSection.of(config)?.credentials.kind).toBe('oauth2');
  });

  test('.env.example is a good configuration, and so is what it has commented out', () => {
    const example = fileText('.env.example');
    expect(portalSection.of(configOf(example))?.intervalMs).toBe(300_000);
    expect(configOf(example.replaceAll(/^# (?=[A-Z_]+=)/gm, '')).web.host).toBe('127.0.0.1');
  });

  test('the numbers of appliances that fit follow from the limits', () => {
    // An appliance has one of the two memory series.
    const perAppliance = ((STANDARD_SERIES.length - 1) * 86_400) / 300;
    const maxOf = (mode: string) => {
      const portal = portalSection.of(configOf(`${fenced('env')}\nPORTAL_MODE=${mode}\n`));
      const fits = (appliances: number) => portal !== undefined && createPlan(portal, appliances, 1).fits;
      return Array.from({ length: 3_000 }, (_, appliances) => appliances)
        .findLast(fits)
        ?.toLocaleString('en');
    };
    const economy = 86_400 / 300 + ((STANDARD_SERIES.length - 1 - ECONOMY_REPLACES.length) * 86_400) / 3_600;
    const [requests, full, more] = [perAppliance.toLocaleString('en'), maxOf('full'), maxOf('economy')];
    for (const text of [readme, fileText('docs/limits.md')].map((page) => page.replaceAll(/\s+/g, ' '))) {
      expect(text).toContain(`an appliance takes ${requests} requests a day`);
      expect(text).toMatch(new RegExp(`${full} appliances( fit|\\. The exporter polls)`));
      expect(text).toContain(`${more} appliances`);
    }
    expect(fileText('docs/limits.md')).toContain(`takes ${economy} requests a day instead of ${requests}`);
  });

  test('docs/configuration.md has every collector, with the interval that it has of itself', () => {
    const told = new Map<string, string>();
    const table = configuration.split('| collector | every |')[1]?.split('\n\n')[0] ?? '';
    for (const [, names = '', every = ''] of table.matchAll(/^\| (`[^|]*`) \| ([^|]*) \|/gm)) {
      for (const [, name = ''] of names.matchAll(/`(\w+)`/g)) told.set(name, every);
    }
    const own = portalCollectors.map(({ name, intervalMs }): readonly [string, string] => [
      name,
      intervalMs === undefined ? '`PORTAL_INTERVAL`' : formatDuration(intervalMs),
    ]);
    expect(Object.fromEntries(told)).toEqual(Object.fromEntries(own));
  });
});

const METRIC = /\b(?:filer|process|nodejs)_[a-z0-9_]+\b/g;
const OPTIONS: ReadonlySet<string> = new Set(usage('').match(/--[a-z-]+(?:\.[a-z-]+)*/g));
/** Of `npm run rules`. */
const RULES_OPTIONS: ReadonlySet<string> = new Set(fileText('deploy/prometheus/command.ts').match(/--[a-z-]+/g));
const VARIABLE = /\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b/g;

const LABELS: ReadonlySet<string> = new Set(catalog.flatMap(({ labels }) => labels));
const METRICS: ReadonlySet<string> = new Set([
  ...catalog.flatMap(({ name, type }) =>
    type === 'histogram' ? [name, `${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
  ),
  ...nodeMetrics(),
]);

/** A prefix, as in `process_*`, is good when something begins with it. */
function isMetric(name: string): boolean {
  if (name.endsWith('_')) return [...METRICS].some((metric) => metric.startsWith(name));
  return METRICS.has(name) || LABELS.has(name);
}

/** Ours, those of other programs that we honour, and those of the build and the tests. */
const VARIABLES: ReadonlySet<string> = new Set([
  ...variableRows.flatMap(({ name, row }) => (isSecret(row) ? [name, fileVariable(name)] : [name])),
  'NAME_FILE',
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'NODE_EXTRA_CA_CERTS', 'FILER_EXPORTER_REVISION'],
  ...['PROMETHEUS_URL', 'NODE_IMAGE', 'NODE_DIGEST', 'REQUIRE_PROMETHEUS', 'REQUIRE_TLS_CLIENTS'],
  ...['REQUIRE_CHROMIUM', 'NODE_TLS_REJECT_UNAUTHORIZED', 'NODE_DEBUG'],
  ...['REQUIRE_KUBECTL', 'REQUIRE_SYSTEMD', 'REQUIRE_LINUX', 'REQUIRE_NAMESPACES', 'REQUIRE_CGROUPS'],
  ...['NEWER_PROMETHEUS', 'KUBE_APISERVER', 'RUNTIME_DIGEST'],
  'SOURCE_DATE_EPOCH',
]);

function nodeMetrics(): readonly string[] {
  const register = new Registry();
  collectDefaultMetrics({ register });
  return register.getMetricsAsArray().map(({ name }) => name);
}

function configOf(environment: string) {
  return loadConfig({
    environment: parseEnv(environment),
    readFile: (path) => {
      if (path === '.env') throw Object.assign(new Error('none'), { code: 'ENOENT' });
      return 'a-secret\n';
    },
  });
}

/** The only block of docs/configuration.md in a language. */
function fenced(language: string): string {
  const [, block, ...others] = configuration.split(`\n\`\`\`${language}\n`);
  expect(others, `blocks of ${language} after the first`).toEqual([]);
  return block?.split(/^```$/m)[0] ?? '';
}

/** Every file of a folder and its folders, with the path from the top; none where there is no such folder. */
function filesIn(folder: string): readonly string[] {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)));
}

/** The pages of the top and of the folders that have some. */
function pagesToRead(): readonly string[] {
  const top = readdirSync(root).filter((name) => name.endsWith('.md'));
  return [...top, ...['docs', 'deploy', 'grafana'].flatMap(filesIn).filter((path) => path.endsWith('.md'))];
}

function fileText(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

/** The targets of inline links that are not addresses of the web; code is left out. */
function linksIn(text: string): readonly string[] {
  const prose = text.replaceAll(/^```[\s\S]*?^```$/gm, '').replaceAll(/`[^`\n]*`/g, 'code');
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link).filter((link) => !/^[a-z]+:/.test(link));
}

function leadsSomewhere(link: string, page: string): boolean {
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? page : join(dirname(page), path);
  if (!existsSync(join(root, target))) return false;
  return anchor === undefined || anchorsOf(fileText(target)).includes(anchor);
}

/** Headings as GitHub makes anchors of them. */
function anchorsOf(text: string): readonly string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{Letter}\p{Number} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}
