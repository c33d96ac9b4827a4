import type { Container, PodSpec, Tree } from './manifest.ts';

/*
 * The restricted Pod Security Standard, field by field, as of Kubernetes 1.37. It holds all of the baseline one. Source:
 * https://kubernetes.io/docs/concepts/security/pod-security-standards/
 */

const VOLUMES = [
  ...['configMap', 'csi', 'downwardAPI', 'emptyDir', 'ephemeral', 'persistentVolumeClaim', 'projected', 'secret'],
];
const PROFILES = ['RuntimeDefault', 'Localhost'];

/** What in a pod the restricted standard forbids, one line each. */
export function restrictedFaults(pod: PodSpec): readonly string[] {
  const context = pod.securityContext ?? {};
  const containers = [...(pod.initContainers ?? []), ...pod.containers];
  return [
    ...['hostNetwork', 'hostPID', 'hostIPC'].filter((field) => pod[field]).map((field) => `${field} is on`),
    ...(pod.volumes ?? []).flatMap(volumeFaults),
    ...((context.sysctls as readonly unknown[] | undefined) ?? []).map(() => 'sysctls are set'),
    ...containers.flatMap((container) =>
      containerFaults(container, context).map((line) => `${container.name}: ${line}`),
    ),
  ];
}

function volumeFaults({ name, ...source }: { readonly name: string } & Tree): readonly string[] {
  return Object.keys(source)
    .filter((kind) => !VOLUMES.includes(kind))
    .map((kind) => `volume ${name} is a ${kind}`);
}

function containerFaults(container: Container, pod: Tree): readonly string[] {
  const own = container.securityContext ?? {};
  const counts = (field: string) => own[field] ?? pod[field];
  const capabilities = (own.capabilities ?? {}) as {
    readonly add?: readonly string[];
    readonly drop?: readonly string[];
  };
  const profile = (counts('seccompProfile') as { readonly type?: string } | undefined)?.type ?? 'none';
  const ports = (container.ports ?? []) as readonly { readonly hostPort?: number }[];
  const probes = [container.livenessProbe, container.readinessProbe];
  const faults: readonly (readonly [wrong: boolean, line: string])[] = [
    [own.privileged === true, 'is privileged'],
    [own.allowPrivilegeEscalation !== false, 'allowPrivilegeEscalation is not false'],
    [counts('runAsNonRoot') !== true, 'runAsNonRoot is not true'],
    [counts('runAsUser') === 0, 'runAsUser is 0'],
    [!capabilities.drop?.includes('ALL'), 'capabilities does not drop ALL'],
    [
      (capabilities.add ?? []).some((name) => name !== 'NET_BIND_SERVICE'),
      'capabilities adds more than NET_BIND_SERVICE',
    ],
    [!PROFILES.includes(profile), `seccompProfile is ${profile}`],
    [!['Default', undefined].includes(own.procMount as string | undefined), 'procMount is not Default'],
    [ports.some(({ hostPort }) => hostPort !== undefined), 'a port is a port of the host'],
    [probes.some((probe) => (probe?.httpGet as Tree | undefined)?.host !== undefined), 'a probe names a host'],
    [own.seLinuxOptions !== undefined || own.appArmorProfile !== undefined, 'SELinux or AppArmor are set by hand'],
  ];
  return faults.filter(([wrong]) => wrong).map(([, line]) => line);
}
