import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const blocks = [...readFileSync(join(root, 'docs/adding.md'), 'utf8').matchAll(/```ts\n([\s\S]*?)```/g)].map(
  ([, code = '']) => code,
);

/** Asks the copy once, with services that also answer what has been added. */
const ASK = `
import { createServer } from 'node:http';
import { startMockServices } from './src/demo/mock-services.ts';
import { systemClock } from './src/runtime/clock.ts';
import { run } from './src/cli/run.ts';
const mocks = await startMockServices({ clock: systemClock, appliances: 1 });
const server = createServer((request, response) => {
  const say = (body) => response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
  if (request.url.endsWith('/usage')) say({ stored: 42 });
  else if (request.url.includes('/fan_speed')) say({ items: [{ time: Date.now() - 60_000, fans_running: 3 }] });
  else mocks.serve(request, response);
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const origin = 'http://127.0.0.1:' + server.address().port;
const environment = {
  PORTAL_URL: origin + '/portal', PORTAL_USER_KEY: mocks.credentials.userKey,
  PORTAL_COLLECTORS: 'telemetry,audit,edges', PORTAL_SERIES: 'fan_speed', BILLING_URL: origin,
};
process.exit(await run(['--once'], environment, new Promise(() => {})));
`;

let directory = '';
let exposition = '';

/** Puts text behind what stands once in a file of the copy. */
function add(path: string, behind: string, text: string): void {
  const file = join(directory, path);
  const parts = readFileSync(file, 'utf8').split(behind);
  expect(parts, `${behind} once in ${path}`).toHaveLength(2);
  writeFileSync(file, parts.join(behind + text));
}

/** Lists what a file of the copy exports, with its import. */
function list(path: string, from: string, name: string, behind: string, text = `${name}, `): void {
  add(path, behind, text);
  const file = join(directory, path);
  writeFileSync(file, `import { ${name} } from '${from}';\n${readFileSync(file, 'utf8')}`);
}

/** The block of the page that has these words. */
function block(words: string): string {
  const found = blocks.filter((code) => code.includes(words));
  expect(found, words).toHaveLength(1);
  return found[0] ?? '';
}

describe('the code of docs/adding.md, added to a copy of the program,', () => {
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'filer-exporter-adding-'));
    for (const name of ['src', 'package.json', 'tsconfig.json']) {
      cpSync(join(root, name), join(directory, name), { recursive: true });
    }
    symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'));
    for (const code of blocks) {
      const [, path] = /^\/\/ (src\/\S+)\n/.exec(code) ?? [];
      if (path === undefined) continue;
      mkdirSync(dirname(join(directory, path)), { recursive: true });
      writeFileSync(join(directory, path), code);
    }
    add('src/services/portal/appliances/series-families.ts', 'additionalSeries = {\n', block("'filer_appliance_fans'"));
    add('src/services/portal/appliances/edges.ts', 'const edgeTable = [\n', block("'filer_appliance_edge_info'"));
    add('src/exposition/exporter/table.ts', 'exporterMetrics = {\n', block("'filer_exporter_apis'"));
    list('src/services/portal/collectors.ts', './account/audit.ts', 'audit', 'CollectorDefinition[] = [');
    list('src/services/services.ts', './billing/service.ts', 'billing', 'Service[] = [');
    writeFileSync(join(directory, 'ask.ts'), ASK);
    exposition = execFileSync(process.execPath, ['--import', 'tsx', 'ask.ts'], { cwd: directory, encoding: 'utf8' });
  });

  afterAll(() => rmSync(directory, { recursive: true }));

  test('compiles: the ending of a name fits its unit', () => {
    const compiler = join(root, 'node_modules/.bin/tsc');
    execFileSync(compiler, ['--noEmit', '-p', 'src/tsconfig.json'], { cwd: directory, stdio: 'pipe' });
  });

  test.each([
    ['a series', 'filer_appliance_fans', 'Fans that turn.'],
    ['a field of the inventory', 'filer_appliance_edge_info', 'Always 1: an edge appliance that the portal lists.'],
    ['a collector', 'filer_audit_records', 'Records of the audit trail that the portal holds.'],
    ['a service', 'filer_billing_stored_bytes', 'Data that is billed.'],
    ['a metric about the exporter', 'filer_exporter_apis', 'Services that are polled.'],
  ])('gives %s on the page', (_, name, help) => {
    expect(exposition).toContain(`# HELP ${name} ${help}\n`);
    expect(exposition).toMatch(new RegExp(`^${name}(?:\\{[^}]*\\})? [1-9]\\d*$`, 'm'));
  });
});
