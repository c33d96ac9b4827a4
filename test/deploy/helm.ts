import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse, parseAllDocuments } from 'yaml';
import { type Result, run } from '../harness/tools.ts';

const tools = fileURLToPath(new URL('tools/', import.meta.url));
const helmPath = `${tools}node_modules/.bin/helm`;

export const chart = fileURLToPath(new URL('../../deploy/helm/filer-exporter', import.meta.url));
/** Examples of values: the chart is linted and rendered with each. */
export const valueSets = readdirSync(`${chart}/ci`).toSorted();

export interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly data?: Readonly<Record<string, string>>;
}

export interface Pod {
  readonly securityContext: object;
  readonly terminationGracePeriodSeconds: number;
  readonly containers: readonly {
    readonly image: string;
    readonly env: readonly { readonly name: string; readonly value?: string }[];
    readonly securityContext: object;
    readonly startupProbe: object;
    readonly livenessProbe: object;
    readonly readinessProbe: object;
  }[];
}

export function installHelm(): void {
  if (!existsSync(helmPath)) execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: tools, stdio: 'ignore' });
}

export function helm(...args: readonly string[]): Result {
  return run(helmPath, args);
}

/** Renders the chart with a value set and further arguments; throws with Helm's words if it cannot. */
export function render(valueSet: string, ...args: readonly string[]): readonly Manifest[] {
  const { status, output } = helm('template', 'fleet', chart, '--values', `${chart}/ci/${valueSet}`, ...args);
  if (status !== 0) throw new Error(output);
  return manifestsOf(output);
}

export function manifestsOf(text: string): readonly Manifest[] {
  return parseAllDocuments(text)
    .map((document) => document.toJS() as Manifest | null)
    .filter((manifest) => manifest !== null);
}

export function podOf(manifests: readonly Manifest[]): Pod {
  const deployment = manifests.find(({ kind }) => kind === 'Deployment');
  if (deployment === undefined) throw new Error('expected a Deployment');
  return (deployment.spec as unknown as { readonly template: { readonly spec: Pod } }).template.spec;
}

/** The path of every value and block of values.yaml, such as `web` and `web.tls`. */
export function valuePaths(): readonly string[] {
  const paths = (value: unknown, path: string): string[] => {
    const isBlock = typeof value === 'object' && value !== null && !Array.isArray(value);
    const inner = isBlock ? Object.entries(value).flatMap(([name, one]) => paths(one, `${path}.${name}`)) : [];
    return [path, ...inner];
  };
  const values = parse(readFileSync(`${chart}/values.yaml`, 'utf8')) as Readonly<Record<string, unknown>>;
  return Object.entries(values).flatMap(([name, value]) => paths(value, name));
}

/** Whether a value set sets something at this path, or below it. */
export function sets(valueSet: string, path: string): boolean {
  const values = parse(readFileSync(`${chart}/ci/${valueSet}`, 'utf8')) as unknown;
  const found = path.split('.').reduce<unknown>((value, name) => {
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
  }, values);
  return found !== undefined;
}
