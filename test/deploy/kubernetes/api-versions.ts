/**
 * Which Kubernetes minors serve the APIs that our manifests use: the three newest as of November 2026. Sources:
 * `api/discovery/apis.json` of https://github.com/kubernetes/kubernetes, which lists what a release serves, and rule 4a of
 * https://kubernetes.io/docs/reference/using-api/deprecation-policy/, by which a version that is stable stays for as long
 * as Kubernetes is at 1.
 */
export const servedApis: Readonly<Record<string, readonly string[]>> = {
  v1: ['1.35', '1.36', '1.37'],
  'apps/v1': ['1.35', '1.36', '1.37'],
  'batch/v1': ['1.35', '1.36', '1.37'],
  'networking.k8s.io/v1': ['1.35', '1.36', '1.37'],
  'policy/v1': ['1.35', '1.36', '1.37'],
};

/** The minors that manifests must work on. */
export const newestMinors: readonly string[] = ['1.35', '1.36', '1.37'];

/** APIs that the cluster itself does not bring: the Prometheus operator's, unchanged since its version 0.39. */
export const operatorApis: readonly string[] = ['monitoring.coreos.com/v1'];
