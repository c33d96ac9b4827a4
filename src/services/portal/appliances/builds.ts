/** The first build that has `memory_utilization_details`; earlier ones have `memory_utilization`. */
const DETAILS_FROM = '10.0.4';

/** The leading numbers of a build or a version, at least two; undefined if it cannot be read. */
export function versionOf(build: string): readonly number[] | undefined {
  return /^(\d{1,9}(?:\.\d{1,9})+)/.exec(build)?.[1]?.split('.').map(Number);
}

/** Compares two versions: negative if the first is older, positive if it is newer; undefined if one cannot be read. */
export function compareVersions(first: string, second: string): number | undefined {
  const [left, right] = [versionOf(first), versionOf(second)];
  if (left === undefined || right === undefined) return undefined;
  const indexes = Array.from({ length: Math.max(left.length, right.length) }, (_, index) => index);
  return indexes.map((index) => (left[index] ?? 0) - (right[index] ?? 0)).find((difference) => difference !== 0) ?? 0;
}

/** Whether a build has a series. Each build has one of the two memory series; an unreadable build may have both. */
export function buildSupports(series: string, build: string): boolean {
  if (series !== 'memory_utilization' && series !== 'memory_utilization_details') return true;
  const difference = compareVersions(build, DETAILS_FROM);
  if (difference === undefined) return true;
  return series === 'memory_utilization_details' ? difference >= 0 : difference < 0;
}
