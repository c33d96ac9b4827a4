import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

/*
 * The part of Grafana's own package `@grafana/data` that turns an answer into what people read, as far as the tests use it.
 * The package is for browsers, so it is bundled for Node.js first. test/tools has it; the types are written here, because
 * `npm run check` runs without the tools.
 */

/** What Grafana makes of one value. */
export interface Display {
  readonly text: string;
  readonly prefix?: string;
  readonly suffix?: string;
  /** As CSS, of the theme. */
  readonly color?: string;
  readonly title?: string;
}

/** A column of a frame. */
export interface Field {
  readonly name: string;
  readonly type: 'time' | 'number' | 'string';
  readonly values: readonly (number | string | null)[];
  readonly config: Readonly<Record<string, unknown>>;
  readonly labels?: Readonly<Record<string, string>>;
  /** Given by `applyFieldOverrides`. */
  readonly display?: (value: unknown) => Display;
}

/** Grafana's table of values: one for each series, or one for all of them. */
export interface Frame {
  readonly refId: string;
  readonly name?: string;
  readonly fields: readonly Field[];
  readonly length: number;
}

interface Theme {
  readonly colors: { readonly text: { readonly primary: string } };
  readonly visualization: { getColorByName(name: string): string };
}

interface Subscribable {
  subscribe(next: (frames: readonly Frame[]) => void): unknown;
}

interface Transformer {
  readonly id: string;
}

type ReplaceVariables = (text: string) => string;

/** What the tests take from `@grafana/data`. */
export interface GrafanaData {
  createTheme(options: { readonly colors: { readonly mode: 'light' | 'dark' } }): Theme;
  formattedValueToString(value: Display): string;
  getFieldDisplayName(field: Field, frame: Frame, all: readonly Frame[]): string;
  applyFieldOverrides(options: {
    readonly data: readonly Frame[];
    readonly fieldConfig: unknown;
    readonly fieldConfigRegistry: unknown;
    readonly replaceVariables: ReplaceVariables;
    readonly theme: Theme;
  }): readonly Frame[];
  getFieldDisplayValues(options: {
    readonly data: readonly Frame[];
    readonly fieldConfig: unknown;
    readonly reduceOptions: unknown;
    readonly replaceVariables: ReplaceVariables;
    readonly theme: Theme;
  }): readonly { readonly display: Display }[];
  transformDataFrame(
    transformations: readonly unknown[],
    frames: readonly Frame[],
    context: { readonly interpolate: ReplaceVariables },
  ): Subscribable;
  sortDataFrame(frame: Frame, index: number, reverse: boolean): Frame;
  readonly standardTransformers: Readonly<Record<string, Transformer>>;
  readonly standardTransformersRegistry: { setInit(list: () => readonly unknown[]): void };
  readonly FieldConfigOptionsRegistry: new (list: () => readonly unknown[]) => unknown;
  readonly identityOverrideProcessor: (value: unknown) => unknown;
  readonly colorManipulator: { asHexString(color: string): string };
}

const NAMES = [
  ...['createTheme', 'formattedValueToString', 'getFieldDisplayName', 'applyFieldOverrides', 'getFieldDisplayValues'],
  ...['transformDataFrame', 'sortDataFrame', 'standardTransformers', 'standardTransformersRegistry'],
  ...['FieldConfigOptionsRegistry', 'identityOverrideProcessor', 'colorManipulator'],
] as const satisfies readonly (keyof GrafanaData)[];

/** Parts of a browser that the package asks for while it loads. */
const BROWSER = `
globalThis.window ??= { addEventListener() {} };
globalThis.navigator ??= { language: 'en-US', languages: ['en-US'] };
`;

/** Loads the package. Throws where the tools are not installed. */
export async function loadGrafanaData(): Promise<GrafanaData> {
  const folder = mkdtempSync(join(tmpdir(), 'filer-exporter-grafana-'));
  const outfile = join(folder, 'grafana-data.mjs');
  try {
    await build({
      stdin: {
        contents: `export { ${NAMES.join(', ')} } from '@grafana/data';`,
        resolveDir: fileURLToPath(new URL('../tools/', import.meta.url)),
      },
      bundle: true,
      platform: 'node',
      format: 'esm',
      outfile,
      // Without it a package of translations advertises on the console.
      define: { 'process.env.NODE_ENV': '"production"' },
      banner: {
        js: `import { createRequire } from 'node:module';\nconst require = createRequire(import.meta.url);${BROWSER}`,
      },
    });
    const grafana = (await import(pathToFileURL(outfile).href)) as GrafanaData;
    // Some have a second name.
    const transformers = new Map(Object.values(grafana.standardTransformers).map((each) => [each.id, each]));
    grafana.standardTransformersRegistry.setInit(() =>
      [...transformers.values()].map((transformation) => ({ id: transformation.id, transformation })),
    );
    return grafana;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
