/** The first build with `memory_utilization_details` (upstream-api.md 4.3). */
const DETAILS_FROM = [10, 0, 4] as const;

/**
 * Whether a series fits an appliance's build: of the two memory series each build has one. True for every other
 * series, and for both where the build is unknown or cannot be read.
 */
export function fitsBuild(series: string, build: string): boolean {
  if (series !== 'memory_utilization' && series !== 'memory_utilization_details') return true;
  const numbers = /^(\d+)\.(\d+)(?:\.(\d+))?/
    .exec(build)
    ?.slice(1)
    .map((part) => Number(part ?? 0));
  if (numbers === undefined) return true;
  const difference = DETAILS_FROM.map((part, index) => (numbers[index] ?? 0) - part).find((apart) => apart !== 0) ?? 0;
  return series === 'memory_utilization_details' ? difference >= 0 : difference < 0;
}
