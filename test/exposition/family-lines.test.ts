import { expect, test } from 'vitest';
import { BufferMemory } from '../../src/exposition/buffer-memory.ts';
import { FamilyLines } from '../../src/exposition/family-lines.ts';
import { SeriesHashes } from '../../src/exposition/series-hashes.ts';
import { atOnce } from '../../src/runtime/slices.ts';
import fc from '../support/fast-check.ts';

function textOf(lines: FamilyLines): readonly [text: string, duplicates: number] {
  const made = atOnce(lines.rewritten());
  const text =
    'text' in made ? made.text : made.blocks.map((block) => block.lines(new BufferMemory()).toString()).join('');
  expect([Buffer.byteLength(text), text.split('\n').length - 1]).toEqual([made.bytes, made.samples]);
  return [text, made.duplicates];
}

test.each([1, 20_000])('a series with the hash of another one keeps its own line, beside %d others', (others) => {
  const lines = new FamilyLines('filer_a');
  const meant: string[] = [];
  for (let line = 0; line < others; line += 1) {
    const series = `filer_a{of="ü ${line}"}`;
    lines.add(series, Buffer.byteLength(series), '1', line + 1);
    meant.push(`${series} ${line === 0 ? 3 : 1}\n`);
  }
  for (const value of ['2', '3']) lines.add('filer_a{of="ü 0"}', 17, value, 1);
  for (const value of ['4', '5']) lines.add('filer_a{of="another"}', 21, value, 1);
  expect(textOf(lines)).toEqual([`${meant.join('')}filer_a{of="another"} 5\n`, 3]);
});

test('each hash is new once, however many there are', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 400 }), { maxLength: 600, size: 'max' }), (given) => {
      const hashes = new SeriesHashes();
      const known = new Set<number>();
      for (const one of given) {
        const hash = one * 2 ** 42;
        expect(hashes.add(hash)).toBe(!known.has(hash));
        known.add(hash);
      }
    }),
  );
});
