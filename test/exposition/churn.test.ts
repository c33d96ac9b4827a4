import { expect, test } from 'vitest';
import { LineStore } from '../../src/exposition/store.ts';
import type { Sample } from '../../src/metrics/samples.ts';
import { seededRandom } from '../../src/runtime/random.ts';

const families = Array.from({ length: 6 }, (_, index) => ({
  name: `filer_f${index}`,
  help: 'A figure.',
  type: 'gauge' as const,
}));

function* samplesOf(serial: string, title: string, lines: number, value: number): Generator<Sample> {
  for (const { name } of families) {
    for (let line = 0; line < lines; line += 1) {
      yield { name, labels: { serial, filer: title, line: `${line}` }, value };
    }
  }
}

test('24 hours in which appliances come and go and are renamed leave no orphan chunk, block or byte', () => {
  const store = new LineStore(families);
  const random = seededRandom(7);
  const fleet = new Map<number, string>();
  let next = 0;
  let most = 0;
  for (let minute = 0; minute < 24 * 60; minute += 1) {
    // Between twenty and two hundred appliances, in waves of six hours.
    const wanted = 110 + Math.round(90 * Math.sin(minute / 57));
    while (fleet.size < wanted) {
      fleet.set(next, `appliance ${next}`);
      next += 1;
    }
    for (const serial of [...fleet.keys()].slice(wanted)) {
      fleet.delete(serial);
      store.withdraw(`t${serial}`);
    }
    for (const [serial, title] of fleet) {
      if (random() < 0.2) continue;
      const name = random() < 0.05 ? `${title}${'é'.repeat(Math.floor(random() * 40))}` : title;
      // Now and then an answer is large: its lines have buffers of their own then.
      const lines = random() < 0.002 ? 400 : 1 + Math.floor(random() * 4);
      store.publish({ task: `t${serial}`, samples: samplesOf(`${serial}`, name, lines, random()) });
    }
    const blocks = [...store.blocks()];
    const bytes = blocks.reduce((sum, block) => sum + block.bytes, 0);
    const chunks = blocks.reduce((sum, block) => sum + block.chunks.length, 0);
    // A block without chunks is a large task's own.
    const own = blocks.filter((block) => block.chunks.length === 0).length;
    expect(chunks).toBeLessThanOrEqual([...store.tasks].length * families.length);
    expect(chunks + own).toBeGreaterThanOrEqual([...store.tasks].length * families.length);
    // Blocks are a quarter full at least, beside one of each family that is being filled.
    most = Math.max(most, (blocks.length - own - families.length) / (bytes / (32 * 1024) + 1));
  }
  expect(most).toBeLessThan(4);
  expect([...store.blocks()].filter(({ bytes }) => bytes === 0)).toEqual([]);
  for (const serial of fleet.keys()) store.withdraw(`t${serial}`);
  expect([[...store.blocks()].length, store.samples, store.bytes, store.whole('text').length]).toEqual([0, 0, 0, 0]);
  expect(store.changedBlocks.size).toBe(0);
});
