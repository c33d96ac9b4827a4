// Only here: a thread of passwords that ends or fails.
import { EventEmitter } from 'node:events';
import type { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { PasswordThread } from '../../src/web/password-thread.ts';
import { GEHEIM } from './asking.ts';

/** A thread that does what a test says. */
class Thread extends EventEmitter {
  unref(): void {}

  postMessage(): void {}

  answer(matches: boolean): void {
    this.emit('message', matches);
  }
}

function threads() {
  const made: Thread[] = [];
  const make = () => {
    const thread = new Thread();
    made.push(thread);
    return thread as unknown as Worker;
  };
  return { made, compare: new PasswordThread(make).compare };
}

test('a thread that fails takes its own checks with it, and not those of the next one', async () => {
  const { made, compare } = threads();
  const lost = compare('one', GEHEIM);
  made[0]?.emit('error', new Error('out of memory'));
  await expect(lost).rejects.toThrow('out of memory');
  const next = compare('two', GEHEIM);
  // It fails first and exits later.
  made[0]?.emit('exit', 1);
  made[1]?.answer(true);
  expect(await next).toBe(true);
  const further = compare('three', GEHEIM);
  made[1]?.answer(false);
  expect([await further, made.length]).toEqual([false, 2]);
});

test('a thread that ends without a word takes its checks with it, and the next check begins another', async () => {
  const { made, compare } = threads();
  const lost = compare('one', GEHEIM);
  made[0]?.emit('exit', 0);
  await expect(lost).rejects.toThrow('the password thread has ended');
  const next = compare('two', GEHEIM);
  made[1]?.answer(true);
  expect(await next).toBe(true);
});
