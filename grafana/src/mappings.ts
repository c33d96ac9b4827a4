import { MappingType, type ValueMapping } from '@grafana/grafana-foundation-sdk/dashboard';

/** Words for whole numbers, each with a colour that reads on light and on dark. */
export function words(...texts: readonly (readonly [value: number, text: string, color: string])[]): ValueMapping[] {
  const options = Object.fromEntries(
    texts.map(([value, text, color], index) => [String(value), { text, color, index }]),
  );
  return [{ type: MappingType.ValueToText, options }];
}

/** Words for ranges of numbers, from one bound up to the next; the last is open. */
export function ranges(...texts: readonly (readonly [from: number, text: string, color: string])[]): ValueMapping[] {
  return texts.map(([from, text, color], index) => ({
    type: MappingType.RangeToText,
    options: { from, to: texts[index + 1]?.[0] ?? null, result: { text, color, index } },
  }));
}

/** Up and down. */
export const upOrDown: ValueMapping[] = words([1, 'up', 'green'], [0, 'down', 'red']);
