import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/*
 * What this machine lets a test do to a process. Without it such tests are skipped; with REQUIRE_LINUX set the programs
 * must be there, and with REQUIRE_NAMESPACES, for whoever may make some, so must what takes namespaces.
 */

/** Whether a command can be run and ends well. */
export function works(command: string, ...args: readonly string[]): boolean {
  try {
    execFileSync(command, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

const ONLY_IPV6 = 'ip link set lo up && ip addr del 127.0.0.1/8 dev lo';

/** Runs a program where there is IPv6 and nothing else. */
export const onlyIpv6: readonly string[] = ['unshare', '-n', 'sh', '-c', `${ONLY_IPV6} && exec "$@"`, 'sh'];

/** Runs a program with a file system of its own, in memory, on a folder; `size` as `mount` takes it. It alone sees it. */
export function withDisk(folder: string, size: string, further = 'true'): readonly string[] {
  const mount = `mount -t tmpfs -o size=${size} none '${folder}' && cd '${folder}' && ${further}`;
  return ['unshare', '-rm', 'sh', '-c', `${mount} && cd / && exec "$@"`, 'sh'];
}

/** Of {@link withDisk}: nothing more can be written from then on. */
export const READ_ONLY = 'mount -o remount,ro "$PWD"';

/** Whether {@link onlyIpv6} and {@link withDisk} can be had. */
export const namespaces = {
  network: works(...(onlyIpv6 as [string, ...string[]]), 'true'),
  disk: works(...(withDisk('/mnt', '1m', READ_ONLY) as [string, ...string[]]), 'true'),
};

/** Whether `prlimit` can be had, which sets limits on a process. */
export const hasLimits: boolean = works('prlimit', '--nofile=96:96', 'true');

/** Whether `script` can be had, which runs a program on a terminal. */
export const hasTerminals: boolean = works('script', '-qec', 'true', '/dev/null');

/** A group of processes that may use so much memory together. */
export interface MemoryGroup {
  /** Runs a program within it. */
  readonly through: readonly string[];
  /** For when all in it have ended. */
  remove(): void;
}

/** Where each version of the kernel's control groups has its groups, and what the limit is called there. */
const VERSIONS = [
  { root: '/sys/fs/cgroup/memory', limit: 'memory.limit_in_bytes' },
  { root: '/sys/fs/cgroup', limit: 'memory.max' },
] as const;

/** A group under a limit; undefined where none can be made: that takes root, and a kernel that lets groups have limits. */
export function memoryGroup(bytes: number): MemoryGroup | undefined {
  for (const { root, limit } of VERSIONS) {
    let group: string | undefined;
    try {
      group = mkdtempSync(join(root, 'filer-exporter-'));
      if (!existsSync(join(group, limit))) throw new Error('groups have no limits of memory here');
      writeFileSync(join(group, limit), String(bytes));
      const made = group;
      return {
        through: ['sh', '-c', `echo $$ > '${made}/cgroup.procs' && exec "$@"`, 'sh'],
        remove: () => rmdirSync(made),
      };
    } catch {
      if (group !== undefined) rmdirSync(group);
    }
  }
  return undefined;
}

/**
 * What runs a program in a container of so much memory, until the test is over. Where no group can be made it has the heap
 * that Node.js takes for its own in one of 128 MiB.
 */
export function within(mebibytes: number): {
  readonly through: readonly string[];
  readonly heap: Readonly<Record<string, string>>;
} {
  const group = memoryGroup(mebibytes * 1024 * 1024);
  if (group === undefined)
    return { through: [], heap: { NODE_OPTIONS: '--max-old-space-size=64 --max-semi-space-size=1' } };
  onTestFinished(() => group.remove());
  return { through: group.through, heap: {} };
}
