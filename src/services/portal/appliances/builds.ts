/** The first build that has `memory_utilization_details`; earlier ones have `memory_utilization`. */
const DETAILS_FROM = '10.0.4';

/** Whether a text begins with the numbers of a build or a version, at least two. */
export function isVersion(text: string): boolean {
  return /^\d+\.\d/.test(text);
}

/** Compares two versions: negative if the first is older, positive if it is newer. */
export function compareVersions(first: string, second: string): number {
  return first.localeCompare(second, 'en', { numeric: true });
}

/** Whether a build has a series. Each build has one of the two memory series; an unreadable build may have both. */
export function buildSupports(series: string, build: string): boolean {
  if (series !== 'memory_utilization' && series !== 'memory_utilization_details') return true;
  if (!isVersion(build)) return true;
  const hasDetails = compareVersions(build, DETAILS_FROM) >= 0;
  return hasDetails === (series === 'memory_utilization_details');
}
