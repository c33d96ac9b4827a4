import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';
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
  return renderOf(chart, valueSet, ...args);
}

export function renderOf(path: string, valueSet: string, ...args: readonly string[]): readonly Manifest[] {
  const { status, output } = helm('template', 'fleet', path, '--values', `${chart}/ci/${valueSet}`, ...args);
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
