import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { root } from '../../support/program.ts';
import type { Manifest } from './manifest.ts';

const require = createRequire(join(root, 'test', 'tools', 'package.json'));

const OPERATOR = '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1';

/** Where the model of each kind is that we use. */
const models: Readonly<Record<string, string>> = {
  'v1 ConfigMap': 'kubernetes-models/v1/ConfigMap',
  'v1 Pod': 'kubernetes-models/v1/Pod',
  'v1 Secret': 'kubernetes-models/v1/Secret',
  'v1 Service': 'kubernetes-models/v1/Service',
  'v1 ServiceAccount': 'kubernetes-models/v1/ServiceAccount',
  'apps/v1 Deployment': 'kubernetes-models/apps/v1/Deployment',
  'apps/v1 StatefulSet': 'kubernetes-models/apps/v1/StatefulSet',
  'batch/v1 Job': 'kubernetes-models/batch/v1/Job',
  'networking.k8s.io/v1 Ingress': 'kubernetes-models/networking.k8s.io/v1/Ingress',
  'networking.k8s.io/v1 NetworkPolicy': 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy',
  'policy/v1 PodDisruptionBudget': 'kubernetes-models/policy/v1/PodDisruptionBudget',
  'monitoring.coreos.com/v1 PodMonitor': `${OPERATOR}/PodMonitor`,
  'monitoring.coreos.com/v1 PrometheusRule': `${OPERATOR}/PrometheusRule`,
  'monitoring.coreos.com/v1 ServiceMonitor': `${OPERATOR}/ServiceMonitor`,
};

function modelOf({ apiVersion, kind }: Manifest): string {
  const path = models[`${apiVersion} ${kind}`];
  if (path === undefined) throw new Error(`no model is known for ${apiVersion} ${kind}; expected a row in models.ts`);
  return path;
}

/** What the models' JSON schemas object to: types, enumerations, formats, missing fields. */
export function schemaFaults(manifests: readonly Manifest[]): readonly string[] {
  return manifests.flatMap((manifest) => {
    const Kind = classOf(manifest);
    try {
      new Kind(manifest).validate();
      return [];
    } catch (error) {
      return [`${manifest.kind} ${manifest.metadata.name}: ${(error as Error).message}`];
    }
  });
}

/** The class that models a kind of object. */
function classOf(manifest: Manifest): new (data: unknown) => { validate(): void } {
  const model = require(modelOf(manifest)) as Record<string, ReturnType<typeof classOf>>;
  const Kind = model[manifest.kind];
  if (Kind === undefined) throw new Error(`the model of ${manifest.kind} lacks its class`);
  return Kind;
}

/** The types are of an operator before 0.66, which knows of no `keep_firing_for`; the API server's check has the newer ones. */
function withoutNewer(key: string, value: unknown): unknown {
  return key === 'keep_firing_for' ? undefined : value;
}

/**
 * What the compiler objects to when the objects are written as TypeScript: above all fields that no such object has,
 * which the schemas let pass. All objects in one go, for a compiler takes a second to start; `named` says whose they are.
 */
export function typeFaults(named: Readonly<Record<string, readonly Manifest[]>>): readonly string[] {
  const cache = join(root, 'test', 'tools', 'node_modules', '.cache');
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'manifests-'));
  try {
    const lines = Object.entries(named).flatMap(([name, manifests]) =>
      manifests.map((manifest) => {
        const type = `import('${modelOf(manifest)}').I${manifest.kind}`;
        return `(${JSON.stringify(manifest, withoutNewer)}) satisfies ${type}; // ${name}: ${manifest.kind} ${manifest.metadata.name}`;
      }),
    );
    writeFileSync(join(folder, 'manifests.ts'), `${lines.join('\n')}\nexport {};\n`);
    const compilerOptions = { noEmit: true, strict: true, module: 'nodenext', types: [], skipLibCheck: true };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['manifests.ts'] }));
    const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
    const { stdout } = spawnSync(process.execPath, [compiler, '-p', folder, '--pretty', 'false'], { encoding: 'utf8' });
    return stdout
      .split('\n')
      .map((line) => /manifests\.ts\((\d+),\d+\): error (.*)$/.exec(line))
      .filter((found) => found !== null)
      .map(([, line, text]) => `${lines[Number(line) - 1]?.split('; // ').at(-1)}: ${text}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
