import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { stamped } from './revision.ts';

/*
 * Writes the program with all its packages into one file, for a single executable: `bundle.ts FILE`. Files that the
 * program reads from its own folder become strings in it, and the file of its thread becomes a `data:` URL.
 */

const top = fileURLToPath(new URL('../..', import.meta.url));
const options = { bundle: true, platform: 'node', format: 'esm', target: 'node24', write: false } as const;
// Packages in CommonJS load Node's own modules by `require`.
const banner = {
  js: "import { createRequire as __from } from 'node:module'; const require = __from(process.execPath);",
};

const READ = /readFileSync\(new URL\('([^']+)', import\.meta\.url\), 'utf8'\)/g;
const THREAD = /new URL\('([^']+-worker\.js)', import\.meta\.url\)/g;

/**
 * Puts the files that a source file reads, or starts as a thread, into that source file. Throws if one cannot be put in.
 */
const inlined: Plugin = {
  name: 'inlined',
  setup({ onLoad }) {
    onLoad({ filter: /\/src\/.*\.ts$/ }, async ({ path }) => {
      const pathOf = (name: string) => resolve(dirname(path), name);
      let contents = stamped(readFileSync(path, 'utf8')).replaceAll(READ, (_, name: string) => {
        return JSON.stringify(
          readFileSync(name.endsWith('package.json') ? join(top, 'package.json') : pathOf(name), 'utf8'),
        );
      });
      for (const [text, name = ''] of contents.matchAll(THREAD)) {
        const worker = await bundled(pathOf(name.replace(/\.js$/, '.ts')));
        contents = contents.replace(text, () => `new URL('data:text/javascript;base64,${worker.toString('base64')}')`);
      }
      if (contents.includes('import.meta.url')) throw new Error(`${path}: reads a file that the bundle would not have`);
      return { contents, loader: 'ts' };
    });
  },
};

async function bundled(entry: string): Promise<Buffer> {
  const { outputFiles } = await build({
    ...options,
    entryPoints: [entry],
    plugins: [inlined],
    banner,
    minifySyntax: true,
  });
  const [file] = outputFiles;
  if (file === undefined) throw new Error(`${entry}: expected one file`);
  return Buffer.from(file.contents);
}

const [output] = process.argv.slice(2);
if (output === undefined) throw new Error('bundle.ts: expected the file to write');
writeFileSync(output, await bundled(join(top, 'src', 'main.ts')));
