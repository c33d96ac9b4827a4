/** The candidate with the smallest edit distance from `text`; the first of equals. */
export function nearest(text: string, candidates: readonly string[]): string | undefined {
  return candidates.toSorted((one, other) => editDistance(text, one) - editDistance(text, other))[0];
}

/** The nearest candidate if its distance is at most a third of the letters: a likely typing error. */
export function likelyTypo(text: string, candidates: readonly string[]): string | undefined {
  const candidate = nearest(text, candidates);
  if (candidate === undefined) return undefined;
  const slips = Math.max(1, Math.floor(Math.min(text.length, candidate.length) / 3));
  return editDistance(text, candidate) <= slips ? candidate : undefined;
}

/** The number of letters to insert, delete, replace or transpose (Damerau and Levenshtein, optimal alignment). */
export function editDistance(from: string, to: string): number {
  let beforePrevious: readonly number[] = [];
  let previous: readonly number[] = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row += 1) {
    const current: number[] = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const replaced = at(previous, column - 1) + (from[row - 1] === to[column - 1] ? 0 : 1);
      const swapped =
        from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]
          ? at(beforePrevious, column - 2) + 1
          : Number.POSITIVE_INFINITY;
      current.push(Math.min(replaced, swapped, at(previous, column) + 1, at(current, column - 1) + 1));
    }
    beforePrevious = previous;
    previous = current;
  }
  return at(previous, to.length);
}

function at(distances: readonly number[], column: number): number {
  return distances[column] ?? Number.POSITIVE_INFINITY;
}
