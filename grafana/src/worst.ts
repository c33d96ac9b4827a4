/**
 * Evaluates the query at the end of the time range, with the newest value in the range of each series: in an outage, what
 * was worst before it stays on the chart. A service counts as up if it was up at any time in the range.
 */
function atTheEnd(query: string): string {
  return query.replaceAll(SELECTOR, (selector, series: string, name: string, range = '', offset = '') => {
    if (range !== '') return `${selector} @ end()`;
    const newest = name === 'filer_api_up' ? 'max_over_time' : 'last_over_time';
    return `${newest}(${series}[$__range]${offset} @ end())`;
  });
}

/** A series with its matchers and its name, its range, and its offset. */
const SELECTOR = /(([\w:]+)\{[^}]*\})(\[[^\]]+\])?( offset \w+)?/g;

/**
 * Returns the series that are highest at the end of the time range, over the whole range. At each step they are the same
 * series; `topk` alone would choose other series at each step.
 */
export function worst(count: number, query: string): string {
  return `(${query}) and topk(${count}, ${atTheEnd(query)})`;
}
