/** The first build with `memory_utilization_details`. */
const DETAILS_FROM = '10.0.4';

/** The leading numbers of a build or a version, at least two; undefined if it cannot be read. */
export function versionOf(build: string): readonly number[] | undefined {
  return /^(\d{1,9}(?:\.\d{1,9})+)/.exec(build)?.[1]?.split('.').map(Number);
}

/** Negative if the first is older, positive if it is newer; undefined if one cannot be read. */
export function compareVersions(one: string, other: string): number | undefined {
  const [left, right] = [versionOf(one), versionOf(other)];
  if (left === undefined || right === undefined) return undefined;
  const places = Array.from({ length: Math.max(left.length, right.length) }, (_, place) => place);
  return places.map((place) => (left[place] ?? 0) - (right[place] ?? 0)).find((apart) => apart !== 0) ?? 0;
}

/** Each build has one of the two memory series; both may exist if the build is unknown or cannot be read. */
export function buildSupports(series: string, build: string): boolean {
  if (series !== 'memory_utilization' && series !== 'memory_utilization_details') return true;
  const difference = compareVersions(build, DETAILS_FROM);
  if (difference === undefined) return true;
  return series === 'memory_utilization_details' ? difference >= 0 : difference < 0;
}
