import { describe, expect, test } from 'vitest';
import { allocate, BufferMemory } from '../../src/exposition/buffer-memory.ts';

const LARGE = 256 * 1024;

function turn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

describe('a buffer that lines were in', () => {
  test('is given back at the next turn when nobody reads', async () => {
    const memory = new BufferMemory();
    const buffer = allocate(LARGE).fill('a');
    memory.free(buffer);
    expect(buffer).toHaveLength(LARGE);
    await turn();
    expect([buffer.length, memory.waiting]).toEqual([0, 0]);
  });

  test('stays for as long as somebody reads who began before it was replaced', async () => {
    const memory = new BufferMemory();
    const buffer = allocate(LARGE).fill('a');
    const ends = [memory.hold(), memory.hold()];
    memory.free(buffer);
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
    const memory = new BufferMemory();
    const first = memory.hold();
    const [old, young] = [allocate(LARGE), allocate(LARGE)];
    memory.free(old);
    const endless = memory.hold();
    memory.free(young);
    first();
    await turn();
    expect([old.length, young.length, memory.waiting]).toEqual([0, LARGE, 1]);
    endless();
    await turn();
    expect([young.length, memory.waiting]).toEqual([0, 0]);
  });

  test('that was replaced with a thousand others takes no more than its share of a turn', async () => {
    const memory = new BufferMemory();
    const buffers = Array.from({ length: 1_000 }, () => allocate(LARGE));
    for (const buffer of buffers) memory.free(buffer);
    await turn();
    expect(memory.waiting).toBe(1_000 - (16 * 1024 * 1024) / LARGE);
    while (memory.waiting > 0) await turn();
    expect(buffers.every(({ length }) => length === 0)).toBe(true);
  });
});

test('a small buffer is left to the garbage collector', async () => {
  const memory = new BufferMemory();
  const buffer = allocate(100).fill('a');
  memory.free(buffer);
  await turn();
  expect([buffer.toString(), memory.waiting]).toEqual(['a'.repeat(100), 0]);
});
