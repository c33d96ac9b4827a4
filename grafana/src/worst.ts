/** The same query at the end of the time that is shown. */
function atTheEnd(query: string): string {
  return query.replaceAll(/[\w:]+\{[^}]*\}(?:\[[^\]]+\])?/g, '$& @ end()');
}

/**
 * The series that are highest at the end of the time that is shown, over all of that time: the same ones at each of its
 * steps, where `topk` alone would choose others at each.
 */
export function worst(count: number, query: string): string {
  return `(${query}) and topk(${count}, ${atTheEnd(query)})`;
}
