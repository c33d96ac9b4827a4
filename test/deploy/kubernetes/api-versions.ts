/**
 * Which Kubernetes minors serve the APIs that our manifests use: the three newest at the time of writing. Source, for
 * each: the file `api/discovery/aggregated_v2.json` of https://github.com/kubernetes/kubernetes on the release's branch.
 */
export const servedApis: Readonly<Record<string, readonly string[]>> = {
  v1: ['1.35', '1.36', '1.37'],
  'apps/v1': ['1.35', '1.36', '1.37'],
  'networking.k8s.io/v1': ['1.35', '1.36', '1.37'],
  'policy/v1': ['1.35', '1.36', '1.37'],
};

/** The minors that manifests must work on. */
export const newestMinors: readonly string[] = ['1.35', '1.36', '1.37'];

/** APIs that the cluster itself does not bring: the Prometheus operator's, unchanged since its version 0.39. */
export const operatorApis: readonly string[] = ['monitoring.coreos.com/v1'];
