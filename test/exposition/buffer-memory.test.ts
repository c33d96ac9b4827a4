import { describe, expect, test } from 'vitest';
import { Memory } from '../../src/exposition/buffer-memory.ts';
import { room, vacate } from '../../src/exposition/room.ts';
import { Slab } from '../../src/exposition/slab.ts';

const LARGE = 256 * 1024;

function turn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

describe('a buffer that lines were in', () => {
  test('is given back at the next turn when nobody reads', async () => {
    const memory = new Memory();
    const buffer = room(LARGE).fill('a');
    memory.leave(buffer);
    expect(buffer).toHaveLength(LARGE);
    await turn();
    expect([buffer.length, memory.waiting]).toEqual([0, 0]);
  });

  test('stays for as long as somebody reads who began before it was replaced', async () => {
    const memory = new Memory();
    const buffer = room(LARGE).fill('a');
    const ends = [memory.hold(), memory.hold()];
    memory.leave(buffer);
    const endsLater = memory.hold();
    for (const end of ends) {
      await turn();
      expect(buffer.toString('latin1', LARGE - 3)).toBe('aaa');
      end();
      // Twice is once.
      end();
    }
    await turn();
    expect(buffer).toHaveLength(0);
    endsLater();
  });

  test('does not wait for those who began later, however long they read', async () => {
    const memory = new Memory();
    const first = memory.hold();
    const [old, young] = [room(LARGE), room(LARGE)];
    memory.leave(old);
    const endless = memory.hold();
    memory.leave(young);
    first();
    await turn();
    expect([old.length, young.length, memory.waiting]).toEqual([0, LARGE, 1]);
    endless();
    await turn();
    expect([young.length, memory.waiting]).toEqual([0, 0]);
  });

  test('that was replaced with a thousand others takes no more than its share of a turn', async () => {
    const memory = new Memory();
    const buffers = Array.from({ length: 1_000 }, () => room(LARGE));
    for (const buffer of buffers) memory.leave(buffer);
    await turn();
    expect(memory.waiting).toBe(1_000 - (16 * 1024 * 1024) / LARGE);
    while (memory.waiting > 0) await turn();
    expect(buffers.every(({ length }) => length === 0)).toBe(true);
  });
});

test('a small buffer is left to the garbage collector', () => {
  const buffer = room(100).fill('a');
  vacate(buffer);
  expect(buffer.toString()).toBe('a'.repeat(100));
});

describe('a slab', () => {
  const text = (of: string) => ({ text: of, bytes: Buffer.byteLength(of) });

  test('has each text where it says', () => {
    const slab = new Slab();
    const texts = ['a 1\n', 'ü 2\n', '', '€'.repeat(30_000)].map(text);
    const read = slab.write(texts).map(({ slab: { buffer }, at, bytes }) => buffer.toString('utf8', at, at + bytes));
    expect(read).toEqual(texts.map((one) => one.text));
  });

  test('gives a page back when it is full and the last of its texts is elsewhere', () => {
    const slab = new Slab();
    const first = slab.write([text('a'.repeat(40_000))]);
    const second = slab.write([text('b'.repeat(40_000))]);
    const [page, next] = [first[0]?.slab, second[0]?.slab];
    expect(page).not.toBe(next);
    expect(page?.buffer).toHaveLength(65_536);
    page?.leave();
    expect(page?.buffer).toHaveLength(0);
    // Not full: more may come.
    next?.leave();
    expect(next?.buffer).toHaveLength(65_536);
  });
});
