/** Evaluates the query at the end of the time range. */
function atTheEnd(query: string): string {
  return query.replaceAll(/[\w:]+\{[^}]*\}(?:\[[^\]]+\])?/g, '$& @ end()');
}

/**
 * Returns the series that are highest at the end of the time range, over the whole range. At each step they are the same
 * series; `topk` alone would choose other series at each step.
 */
export function worst(count: number, query: string): string {
  return `(${query}) and topk(${count}, ${atTheEnd(query)})`;
}
