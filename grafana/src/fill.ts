/** A query with its `$variables` replaced; one that has no value here stays as it is. */
export function filled(expression: string, values: Readonly<Record<string, string>>): string {
  return expression.replaceAll(/\$(?:\{(\w+)(?::\w+)?\}|(\w+))/g, (whole, braced?: string, bare?: string) => {
    return values[braced ?? bare ?? ''] ?? whole;
  });
}

/** Values for variables, with which a query can be parsed; other values would do as well. */
export const anyValues: Readonly<Record<string, string>> = {
  __rate_interval: '5m',
  __interval: '1m',
  __range: '1h',
  window: '1h',
  top: '5',
};
