/** The polynomial of CRC-32 as gzip has it, its bits in reverse. */
const POLYNOMIAL = 0xedb88320;

/** x^0, in reverse bits: the one of the multiplication. */
const ONE = 0x80000000;

/** x^(2^n) for each n: what {@link shiftOf} is multiplied together from. */
const powers: readonly number[] = (() => {
  const found = [0x40000000];
  while (found.length < 32) found.push(multiply(found.at(-1) ?? ONE, found.at(-1) ?? ONE));
  return found;
})();

/** What a checksum is multiplied by when these bytes follow: kept beside a part, so that joining parts costs nothing. */
export function shiftOf(bytes: number): number {
  let shift = ONE;
  for (let rest = bytes, power = 3; rest > 0; rest = Math.floor(rest / 2), power += 1) {
    if (rest % 2 === 1) shift = multiply(powers[power % 32] ?? ONE, shift);
  }
  return shift;
}

/** The CRC-32 of two parts in a row from those of each, without looking at a byte of them (zlib's `crc32_combine`). */
export function joinedCrc(first: number, second: number, shiftOfSecond: number): number {
  return (multiply(shiftOfSecond, first) ^ second) >>> 0;
}

/** Multiplies two polynomials over GF(2), modulo {@link POLYNOMIAL}. `a` is not zero. */
function multiply(a: number, b: number): number {
  let product = 0;
  let shifted = b;
  for (let bit = ONE; bit !== 0; bit >>>= 1) {
    if ((a & bit) !== 0) product ^= shifted;
    shifted = (shifted & 1) === 0 ? shifted >>> 1 : (shifted >>> 1) ^ POLYNOMIAL;
  }
  return product >>> 0;
}
