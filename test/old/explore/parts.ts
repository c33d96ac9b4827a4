import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import process from 'node:process';
import { drawnHistory } from '../large/drawn.ts';
import { root } from '../support/program.ts';

/** Something that is not as it should be, and the command that shows it again. */
export interface Find {
  readonly command: string;
  readonly what: string;
}

/** What vitest's JSON reporter writes. */
interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly {
      readonly status: string;
      readonly title: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

/** Half a day of trouble of the portal and of a receiver of remote write. */
export async function history(seed: number): Promise<readonly Find[]> {
  try {
    await drawnHistory(seed);
    return [];
  } catch (error) {
    return [{ command: `npm run explore -- history ${seed}`, what: String(error) }];
  }
}

/** Every property of the tests, drawn from another seed; a plan that finds something is kept in test/simulation/found/. */
export function fuzz(seed: number): Promise<readonly Find[]> {
  const files = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.test.ts') && !path.includes('node_modules'))
    .map((path) => join('test', path))
    .filter((path) => readFileSync(join(root, path), 'utf8').includes('support/fast-check.ts'));
  return runTests({ FUZZ_SEED: String(seed) }, ['--project=quick', ...files]);
}

/** The tests of which `npm run test:all` has nothing. */
export function further(): Promise<readonly Find[]> {
  return runTests({}, ['--project=explore']);
}

/** The exporter over real sockets, at fifty times the speed, in a process of its own. */
export async function soak(seed: number, minutes: number): Promise<readonly Find[]> {
  const environment = { SOAK_SEED: String(seed), SOAK_MINUTES: String(minutes) };
  const { code, output } = await run(environment, ['--import', 'tsx', 'test/soak/main.ts']);
  if (code === 0) return [];
  const command = `EXPLORE_MINUTES=${3 * minutes} npm run explore -- soak ${seed}`;
  const troubles = [...output.matchAll(/"name":"soak\.trouble","trouble":"(.*)"\}/g)].map(
    ([, trouble = '']) => trouble,
  );
  return troubles.map((what) => ({ command, what }));
}

async function runTests(
  environment: Readonly<Record<string, string>>,
  args: readonly string[],
): Promise<readonly Find[]> {
  const folder = mkdtempSync(join(tmpdir(), 'explore-'));
  const path = join(folder, 'report.json');
  try {
    const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/vitest.config.ts'];
    const reporting = ['--reporter=json', `--outputFile.json=${path}`];
    const { output } = await run(environment, [...vitest, ...reporting, ...args]);
    const variables = Object.entries(environment).map(([name, value]) => `${name}=${value} `);
    try {
      const report = JSON.parse(readFileSync(path, 'utf8')) as Report;
      tellSkipped(report);
      return failuresOf(report, variables.join(''));
    } catch (error) {
      return [{ command: `${variables.join('')}npx vitest run ${args.join(' ')}`, what: `${String(error)} ${output}` }];
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Tests of programs that are not installed. */
function tellSkipped({ testResults }: Report): void {
  const all = testResults.flatMap(({ assertionResults }) => assertionResults);
  for (const { status, title } of all) if (status === 'skipped') process.stdout.write(`skipped: ${title}\n`);
}

function failuresOf({ testResults }: Report, variables: string): readonly Find[] {
  return testResults.flatMap(({ name, status, message, assertionResults }) => {
    const command = `${variables}npm test -- ${relative(root, name)}`;
    const failed = assertionResults.filter((each) => each.status === 'failed');
    if (failed.length === 0 && status === 'failed') return [{ command, what: message }];
    return failed.map(({ title, failureMessages: [what = ''] }) => ({
      command: `${command} -t ${JSON.stringify(title.replaceAll(/[.*+?^${}()|[\]\\]/g, '.'))}`,
      what,
    }));
  });
}

async function run(environment: Readonly<Record<string, string>>, args: readonly string[]) {
  const child = spawn(process.execPath, args, { cwd: root, env: { ...process.env, ...environment } });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output };
}
