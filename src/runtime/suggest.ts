/** Returns the candidate with the smallest edit distance from `text`, and of equal ones the first. */
export function nearest(text: string, candidates: readonly string[]): string | undefined {
  return candidates.toSorted((a, b) => editDistance(text, a) - editDistance(text, b))[0];
}

/** Returns the nearest candidate if at most a third of its letters differ, so that `text` is likely a typing error. */
export function likelyTypo(text: string, candidates: readonly string[]): string | undefined {
  const candidate = nearest(text, candidates);
  if (candidate === undefined) return undefined;
  const maxDistance = Math.max(1, Math.floor(Math.min(text.length, candidate.length) / 3));
  return editDistance(text, candidate) <= maxDistance ? candidate : undefined;
}

/** Counts the letters to insert, delete, replace or transpose (Damerau and Levenshtein, optimal alignment). */
function editDistance(from: string, to: string): number {
  let beforePrevious: readonly number[] = [];
  let previous: readonly number[] = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row += 1) {
    const current: number[] = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const replaced = distanceAt(previous, column - 1) + (from[row - 1] === to[column - 1] ? 0 : 1);
      const swapped =
        from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]
          ? distanceAt(beforePrevious, column - 2) + 1
          : Number.POSITIVE_INFINITY;
      current.push(Math.min(replaced, swapped, distanceAt(previous, column) + 1, distanceAt(current, column - 1) + 1));
    }
    beforePrevious = previous;
    previous = current;
  }
  return distanceAt(previous, to.length);
}

function distanceAt(distances: readonly number[], column: number): number {
  return distances[column] ?? Number.POSITIVE_INFINITY;
}
