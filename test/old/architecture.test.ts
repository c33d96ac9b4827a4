import { readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../src/', import.meta.url));

interface Import {
  readonly what: string;
  readonly kind: 'value' | 'type' | 'dynamic';
}

/** Every file of src with its text, free of comments, and what it imports: files as paths below src, packages by name. */
const files = new Map(
  readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => {
      const text = readFileSync(join(root, path), 'utf8');
      const code = text.replaceAll(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm, '');
      return [path, { code, imports: importsOf(path, code) }] as const;
    }),
);

function importsOf(path: string, code: string): Import[] {
  const fixed = code.matchAll(/^\s*(?:import|export)\s(type\s)?(?:[^'";]*?\sfrom\s)?\s*'([^']+)'/gm);
  const dynamic = code.matchAll(/\bimport\(\s*'([^']+)'/g);
  const resolve = (name = '') => (name.startsWith('.') ? relative(root, join(root, dirname(path), name)) : name);
  return [
    ...[...fixed].map(([, type, name]): Import => ({ what: resolve(name), kind: type ? 'type' : 'value' })),
    ...[...dynamic].map(([, name]): Import => ({ what: resolve(name), kind: 'dynamic' })),
  ];
}

const isOurs = (what: string) => what.endsWith('.ts');
const isBuiltin = (what: string) => what.startsWith('node:') || builtinModules.includes(what);

/** Who may know whom, by folder, or by file where a file stands alone: the first that fits. A folder always knows itself. */
const directions: Readonly<Record<string, readonly string[]>> = {
  'metrics/': [],
  'runtime/': [],
  'contract/': ['metrics/', 'runtime/'],
  'config/': ['runtime/'],
  'state/': ['transport/json/', 'contract/', 'runtime/'],
  'transport/': ['runtime/', 'contract/', 'metrics/'],
  'doctor/': ['transport/', 'contract/', 'metrics/', 'runtime/'],
  'services/service.ts': [
    ...['services/capabilities.ts', 'services/dependencies.ts', 'transport/', 'config/', 'contract/', 'metrics/'],
  ],
  'services/': [
    ...['planning/', 'doctor/', 'transport/', 'config/', 'state/keeper.ts', 'contract/', 'metrics/', 'runtime/'],
  ],
  'planning/plan-text.ts': ['planning/', 'config/', 'runtime/'],
  'planning/estimated-size.ts': ['exposition/', 'planning/', 'config/', 'runtime/'],
  'planning/': ['polling/', 'config/', 'contract/', 'metrics/', 'runtime/'],
  'polling/': ['contract/', 'metrics/', 'runtime/'],
  'exposition/': ['status/model.ts', 'polling/task-facts.ts', 'contract/', 'metrics/', 'runtime/'],
  'history/': ['exposition/format.ts', 'state/', 'transport/', 'contract/', 'metrics/', 'runtime/'],
  'http/': ['exposition/', 'runtime/'],
  'pages/': ['status/model.ts', 'status/time-text.ts', 'http/', 'polling/', 'contract/', 'metrics/', 'runtime/'],
  'web/': ['runtime/', 'http/access-control.ts'],
  'status/': ['polling/', 'transport/rate/', 'contract/', 'metrics/', 'runtime/'],
  'demo/': ['runtime/'],
  'catalog.ts': ['contract/', 'metrics/', 'services/', 'config/', 'exposition/exporter/table.ts'],
};
const knowEverybody = ['app/', 'cli/', 'main.ts'];

describe.each([...files])('%s', (path, { code, imports }) => {
  const ours = imports.filter(({ what }) => isOurs(what));

  test('imports only what its folder may know, and the demo only when it is asked for', () => {
    const home = Object.keys(directions).find((place) => path.startsWith(place));
    if (home === undefined) expect(knowEverybody.some((place) => path.startsWith(place))).toBe(true);
    else {
      const known = [home, ...(directions[home] ?? [])];
      expect(ours.filter(({ what }) => !known.some((place) => what.startsWith(place)))).toEqual([]);
    }
    const demo = ours.filter(({ what }) => what.startsWith('demo/') && !path.startsWith('demo/'));
    expect(demo.filter(({ kind }) => path !== 'cli/demo.ts' || kind !== 'dynamic')).toEqual([]);
  });

  test('imports no package that has its home elsewhere', () => {
    const homes: readonly (readonly [name: string, home: RegExp])[] = [
      ['undici', /^transport\//],
      ['prom-client', /^exposition\/exporter\/metrics\.ts$/],
      ['env-schema', /^config\//],
      ['ajv', /^(?:config\/|web\/yaml\.ts$)/],
      ['pino', /^runtime\/log\.ts$/],
      ['pino-pretty', /^cli\/system-environment\.ts$/],
      ['yaml', /^web\/yaml\.ts$/],
      ['@bufbuild/protobuf/wire', /^history\/write-request\.ts$/],
      ['snappyjs', /^history\/write-request\.ts$/],
      ['bcryptjs', /^web\/password-worker\.ts$/],
      ['p-limit', /^app\/service-client\.ts$/],
    ];
    const strangers = imports.filter(({ what, kind }) => {
      if (isOurs(what) || isBuiltin(what)) return false;
      const home = homes.find(([name]) => name === what)?.[1];
      return !home?.test(path) && !(what === 'p-limit' && kind === 'type' && path.startsWith('transport/'));
    });
    expect(strangers).toEqual([]);
  });

  test('reads time, chance and the environment only where they have their home', () => {
    // `new Date(moment)` reads nothing: it is how a moment that is known becomes a text.
    const homes: readonly (readonly [what: RegExp, home: RegExp])[] = [
      [/\bDate\.now\b|\bnew Date\(\)|\bperformance\b|\bprocess\.(?:hrtime|uptime)\b/, /^runtime\/clock\.ts$/],
      [/\bset(?:Timeout|Interval)\b|\bAbortSignal\.timeout\b/, /^runtime\/clock\.ts$/],
      [/\bMath\.random\b|\brandom(?:UUID|Bytes|Int)\b|\bgetRandomValues\b/, /^runtime\/random\.ts$/],
      [/\bprocess\.env\b/, /^(?:main|cli\/system-environment)\.ts$/],
      // A time that a service reports, which may be wrong: these say what a wrong one does.
      [
        /\bparse(?:HttpDate|DateSeconds)\b|\b(?:date|epochMilliseconds)\.read\b/,
        /^(?:metrics\/units|transport\/(?:http-date|json-client|retry-after)|services\/gfa\/(?:data-response|event-counter|timed-record)|services\/portal\/(?:records|account\/(?:jobs|notifications)))\.ts$|(?:^|\/)doctor\//,
      ],
      [/\bconsole\./, /^$/],
    ];
    expect(homes.filter(([what, home]) => what.test(code) && !home.test(path)).map(([what]) => String(what))).toEqual(
      [],
    );
  });
});

test('no file outside services imports one service by name', () => {
  const found = [...files].flatMap(([path, { imports }]) =>
    imports
      .filter(({ what }) => /^services\/[^/]+\//.test(what) && !path.startsWith('services/'))
      .map(({ what }) => `${path}: ${what}`),
  );
  expect(found).toEqual([]);
});

/** What each place imports, its types too: a place is a file, or the folder of several. */
function arrows(placeOf: (path: string) => string): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>();
  for (const [path, { imports }] of files) {
    const from = placeOf(path);
    const to = imports.filter(({ what }) => isOurs(what)).map(({ what }) => placeOf(what));
    found.set(from, new Set([...(found.get(from) ?? []), ...to]));
  }
  return found;
}

test.each([
  ['file', (path: string) => path],
  ['folder', (path: string) => path.split('/')[0] ?? ''],
])('no %s imports itself by way of others', (kind, placeOf) => {
  const all = arrows(placeOf);
  const seen = new Set<string>();
  const visit = (place: string, trail: readonly string[]): void => {
    if (trail.includes(place)) throw new Error(`a cycle: ${[...trail.slice(trail.indexOf(place)), place].join(' → ')}`);
    if (seen.has(place)) return;
    for (const next of all.get(place) ?? []) if (kind === 'file' || next !== place) visit(next, [...trail, place]);
    seen.add(place);
  };
  for (const place of all.keys()) visit(place, []);
  expect(seen.size).toBe(all.size);
});

test('the house in the architecture page has every folder, and each line imports only from those below', () => {
  const page = readFileSync(join(root, '../docs/architecture.md'), 'utf8');
  const [, drawing = ''] = /```text\n(main\.ts[\s\S]*?)```/.exec(page) ?? [];
  const lines = drawing.split('\n').map((line) => line.match(/^(?:\S+ {1,2})+/)?.[0].match(/[\w.]+(?:\/|\.ts)/g) ?? []);
  const heightOf = (place: string) => lines.findIndex((names) => names.some((name) => name.replace('/', '') === place));
  const upward = [...arrows((path) => path.split('/')[0] ?? '')].flatMap(([from, to]) =>
    [...to].filter(
      (place) => place !== from && place !== 'demo' && heightOf(place) <= heightOf(from) && from !== 'demo',
    ),
  );
  expect(upward).toEqual([]);
  const folders = new Set([...files.keys()].map((path) => path.split('/')[0] ?? ''));
  expect([...folders].filter((place) => heightOf(place) < 0)).toEqual(['demo']);
});

test('the rules are held against the whole program', () => {
  expect(files.size).toBeGreaterThan(60);
  const unknown = [...files].flatMap(([path, { imports }]) =>
    imports.filter(({ what }) => isOurs(what) && !files.has(what)).map(({ what }) => `${path} → ${what}`),
  );
  expect(unknown).toEqual([]);
});
