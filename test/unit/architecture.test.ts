import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const source = fileURLToPath(new URL('../../src/', import.meta.url));

/** Each folder imports from itself and from those behind it, as docs/architecture.md says. */
const LAYERS = [
  'cli app catalog.ts services history web exposition doctor status polling transport',
  'contract config metrics runtime',
].flatMap((names) => names.split(' '));

const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'));
const folderOf = (path: string) => path.split('/')[0] ?? '';

function importsOf(path: string): readonly string[] {
  const text = readFileSync(join(source, path), 'utf8');
  return [...text.matchAll(/(?:from|import)\(?\s*'(\.[^']+\.ts)'/g)].map(([, target = '']) =>
    relative(source, join(source, dirname(path), target)),
  );
}

test('each folder imports only from layers below it, and nothing but the commands knows the demo', () => {
  const against: string[] = [];
  for (const path of files) {
    const folder = folderOf(path);
    for (const target of importsOf(path).map(folderOf)) {
      const isFree = folder === 'main.ts' || target === folder || (folder === 'demo' && target === 'runtime');
      const isBelow = LAYERS.indexOf(folder) !== -1 && LAYERS.indexOf(target) > LAYERS.indexOf(folder);
      const isDemoOfCommand = folder === 'cli' && target === 'demo';
      if (!isFree && !isBelow && !isDemoOfCommand) against.push(`${path} imports from ${target}/`);
    }
  }
  expect(files.length).toBeGreaterThan(100);
  expect(against).toEqual([]);
});

test('time, randomness and the environment are read in one place each', () => {
  const allowed: Readonly<Record<string, RegExp>> = {
    'runtime/clock.ts': /Date\.now|performance\.now/,
    'runtime/random.ts': /Math\.random|random(?:Bytes|UUID|Int)/,
    'main.ts': /process\.env/,
    'cli/system-environment.ts': /process\.env/,
  };
  const reads = /\bDate\.now\(|\bperformance\.now\(|\bMath\.random\(|\bnew Date\(\)|\bprocess\.env\b/g;
  const against = files.flatMap((path) => {
    const text = readFileSync(join(source, path), 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*/g, '');
    return [...text.matchAll(reads)].filter(([read]) => !allowed[path]?.test(read)).map(([read]) => `${path}: ${read}`);
  });
  expect(against).toEqual([]);
});
