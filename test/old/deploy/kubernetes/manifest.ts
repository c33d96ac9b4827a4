/** Anything that was rendered, which only whoever looks at it can tell the type of. */
export type Tree = Readonly<Record<string, unknown>>;

/** A container of a pod, as far as the tests look at it. */
export interface Container {
  readonly name: string;
  readonly image: string;
  readonly args?: readonly string[];
  readonly command?: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value?: string; readonly valueFrom?: Tree }[];
  readonly ports?: readonly { readonly name?: string; readonly containerPort: number }[];
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string; readonly subPath?: string }[];
  readonly livenessProbe?: Tree;
  readonly readinessProbe?: Tree;
  readonly resources?: Tree;
  readonly securityContext?: Tree;
}

/** A pod, as far as the tests look at it. */
export interface PodSpec {
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly volumes?: readonly ({ readonly name: string } & Tree)[];
  readonly securityContext?: Tree;
  readonly automountServiceAccountToken?: boolean;
  readonly serviceAccountName?: string;
  readonly [field: string]: unknown;
}

/** A Kubernetes object as it was rendered. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec?: Tree;
  readonly data?: Readonly<Record<string, string>>;
}

/** The object of this kind. Throws if there is none. */
export function one(manifests: readonly Manifest[], kind: string): Manifest {
  const found = manifests.find((manifest) => manifest.kind === kind);
  if (found === undefined) throw new Error(`expected a ${kind}`);
  return found;
}

/** The pod that a workload makes, or that a Pod is; undefined for what is none. */
export function podSpecOf({ kind, spec }: Manifest): PodSpec | undefined {
  if (kind === 'Pod') return spec as PodSpec | undefined;
  if (!['Deployment', 'StatefulSet', 'Job'].includes(kind)) return undefined;
  return (spec?.template as { readonly spec: PodSpec } | undefined)?.spec;
}

/** The exporter's own container in the pods that were rendered. Throws where there is not exactly one. */
export function exporterIn(manifests: readonly Manifest[]): Container {
  const found = manifests
    .filter(({ kind }) => kind !== 'Pod')
    .flatMap((manifest) => podSpecOf(manifest)?.containers.filter(({ name }) => name === 'filer-exporter') ?? []);
  const [only, ...others] = found;
  if (only === undefined || others.length > 0) throw new Error(`expected one exporter, found ${found.length}`);
  return only;
}

/** What a container's environment holds, with `(metadata.name)` and the like for what is known in the cluster only. */
export function environmentOf({ env = [] }: Container): Readonly<Record<string, string>> {
  return Object.fromEntries(
    env.map(({ name, value, valueFrom }) => {
      const field = (valueFrom?.fieldRef as { readonly fieldPath?: string } | undefined)?.fieldPath;
      return [name, value ?? `(${field ?? 'elsewhere'})`];
    }),
  );
}
