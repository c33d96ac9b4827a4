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

test('24 hours in which appliances come and go and are renamed leave no line behind', () => {
  const store = new LineStore(families);
  const random = seededRandom(7);
  const fleet = new Map<number, string>();
  let next = 0;
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
      // Now and then an answer is large.
      const lines = random() < 0.002 ? 400 : 1 + Math.floor(random() * 4);
      store.publish({ task: `t${serial}`, samples: samplesOf(`${serial}`, name, lines, random()) });
    }
    if (minute % 60 > 0) continue;
    const lines = store
      .whole('text')
      .toString()
      .split('\n')
      .filter((line) => line.startsWith('filer_'));
    expect([lines.length, Buffer.byteLength(`${lines.join('\n')}\n`)]).toEqual([store.samples, store.bytes]);
    const serials = new Set(lines.map((line) => /serial="(\d+)"/.exec(line)?.[1]));
    expect([...serials].filter((serial) => !fleet.has(Number(serial)))).toEqual([]);
  }
  for (const serial of fleet.keys()) store.withdraw(`t${serial}`);
  expect([store.samples, store.bytes, store.whole('text').length]).toEqual([0, 0, 0]);
});
