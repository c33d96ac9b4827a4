// Only here: disks that are full, read-only or gone, and a process that is killed.
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runToEnd } from '../../src/runtime/slices.ts';
import { readJournal } from '../../src/state/journal.ts';
import { namespaces, READ_ONLY, withDisk } from '../support/machine.ts';
import { isAtLeast, type Program, start, temporaryDirectory } from '../support/program.ts';
import { realServices } from '../support/real-services.ts';
import { scrape } from '../support/scrape.ts';
import { until } from '../support/until.ts';

test.runIf(process.env.REQUIRE_NAMESPACES)('a disk of its own can be had, as REQUIRE_NAMESPACES asks', () => {
  expect(namespaces.disk).toBe(true);
});

/** What a file system in memory gives at once. */
const PAGE_BYTES = 4096;

/** What points an exporter at both services and at a state file. */
async function services(state: string) {
  const { environment } = await realServices();
  return { ...environment, STATE_FILE: state, GFA_INTERVAL: '1s' };
}

const isUp = async (url: string) => (await scrape(url)).value('filer_api_up', { api: 'gfa' }) === 1;

const errors = async (url: string) => (await scrape(url)).value('filer_exporter_state_file_errors_total', {}) ?? 0;

/** What was warned of, except that a busy machine polls less often than each second. */
function warnings(program: Program): Program['log'] {
  return program.log.filter(({ level, reason }) => isAtLeast(level, 'warn') && reason !== 'overdue');
}

describe('where the state cannot be written there is one warning and a count, and all else goes on', () => {
  test.runIf(namespaces.disk)('because the disk only reads', async () => {
    const disk = join(temporaryDirectory(), 'disk');
    mkdirSync(disk);
    const environment = await services(join(disk, 'state'));
    await goesOn(start([], { environment, through: withDisk(disk, '1m', READ_ONLY) }), 'EROFS');
  });

  async function goesOn(program: Program, code: string): Promise<void> {
    const url = await program.serving();
    await until('some writes to have failed', async () => (await errors(url)) > 2);
    await until('the service to be up', () => isUp(url));
    expect(warnings(program)).toMatchObject([{ err: { message: expect.stringContaining(code) } }]);
    program.kill('SIGTERM');
    expect((await program.ended).code).toBe(0);
  }
});

test('killed with kill -9 again and again, it goes on from all that a scrape has seen', async () => {
  const environment = await services(join(temporaryDirectory(), 'state'));
  let seen = 0;
  for (let lives = 0; lives < 3; lives += 1) {
    const program = start([], { environment });
    const url = await program.serving();
    const counted = async () => (await scrape(url)).sum('filer_lock_events_total');
    const first = await until('something to be counted', async () => (await counted()) > 0 && counted());
    expect(first).toBeGreaterThanOrEqual(seen);
    seen = Math.max(first, await counted());
    program.kill('SIGKILL');
    await program.ended;
    expect(warnings(program)).toEqual([]);
  }
});

test.runIf(namespaces.disk)('a disk that is full keeps the last whole state, and is written to again', async () => {
  const disk = join(temporaryDirectory(), 'disk');
  mkdirSync(disk);
  const environment = await services(join(disk, 'state'));
  const program = start([], { environment, through: withDisk(disk, '1m') });
  const url = await program.serving();
  /** The disk as the program alone sees it. */
  const seen = join(`/proc/${program.child.pid}/root`, disk);
  const size = () => (existsSync(join(seen, 'state')) ? statSync(join(seen, 'state')).size : 0);
  await until('some states', () => size() > 2 * PAGE_BYTES);
  const filler = join(seen, 'filler');
  const fill = () => {
    expect(() => {
      for (;;) appendFileSync(filler, Buffer.alloc(65_536));
    }).toThrow('ENOSPC');
  };
  const kept = readFileSync(join(seen, 'state'));
  // The next lines are written to the end of the file's last page, half-way, and no further. A file that was being replaced
  // meanwhile leaves room again.
  await until('some writes to have failed', async () => {
    fill();
    return (await errors(url)) > 2;
  });
  expect(readFileSync(join(seen, 'state')).subarray(0, kept.length)).toEqual(kept);
  expect([...runToEnd(readJournal(readFileSync(join(seen, 'state')), () => {})).lines()].length).toBeGreaterThan(2);
  await until('nothing to be left beside it', () => !readdirSync(seen).includes('state.next'));
  expect(warnings(program)).toMatchObject([{ err: { message: expect.stringContaining('ENOSPC') } }]);
  await until('the service to be up', () => isUp(url));
  rmSync(filler);
  await until('it to be written again', () =>
    program.log.some(({ msg }) => msg.includes('state file is written again')),
  );
  expect(readFileSync(join(seen, 'state'))).not.toEqual(kept);
});
