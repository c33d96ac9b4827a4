/** Returns the index of the first entry that is not before `value`, in ascending order. */
export function firstNotBefore<Value extends string | number>(sorted: readonly Value[], value: Value): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const entry = sorted[middle];
    if (entry !== undefined && entry < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
