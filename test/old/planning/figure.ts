/** A number as `--plan` writes it, in bytes where it has a unit. */
export function figure(text: string, row: string): number {
  const [, digits = '', unit = ''] = new RegExp(`^${row} +about ([\\d,.]+) ?(KiB|MiB)?`, 'm').exec(text) ?? [];
  return Number(digits.replaceAll(',', '')) * ({ KiB: 2 ** 10, MiB: 2 ** 20 }[unit] ?? 1);
}
