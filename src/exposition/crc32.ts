/** The polynomial of CRC-32 in gzip, in reversed bits. */
const POLYNOMIAL = 0xedb88320;

/** x^0 in reversed bits: the neutral element of the multiplication. */
const ONE = 0x80000000;

/** x^(2^n) for each n: the factors of {@link shiftOf}. */
const powers: readonly number[] = (() => {
  const found = [0x40000000];
  while (found.length < 32) found.push(multiply(found.at(-1) ?? ONE, found.at(-1) ?? ONE));
  return found;
})();

/** The factor for a checksum that this many bytes follow; stored with each part, so that joining parts is cheap. */
export function shiftOf(bytes: number): number {
  let shift = ONE;
  for (let rest = bytes, power = 3; rest > 0; rest = Math.floor(rest / 2), power += 1) {
    if (rest % 2 === 1) shift = multiply(powers[power % 32] ?? ONE, shift);
  }
  return shift;
}

/** The CRC-32 of two joined parts, computed from their checksums (zlib's `crc32_combine`). */
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
