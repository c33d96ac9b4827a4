import { readFileSync } from 'node:fs';
import process from 'node:process';
import { getHeapStatistics } from 'node:v8';
import type { Environment } from '../app/environment.ts';
import { StateFile } from '../app/state-file.ts';
import { systemClock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import { systemRandom } from '../runtime/random.ts';

/** The heap may use this share of the memory of a container. */
const HEAP_SHARE = 1 / 2;

/** The state file may be as large as this share of the heap. The events and filers that the heap allows need less. */
const STATE_SHARE = 1 / 4;

export function systemEnvironment(log: Log): Environment {
  // V8 never sets its limit below 256 MiB, not even in a container of 128 MiB. The rest of a container's memory is for the
  // process itself and for buffers outside the heap.
  const containerBytes = process.constrainedMemory?.() || Number.POSITIVE_INFINITY;
  const heapBytes = Math.min(getHeapStatistics().heap_size_limit, HEAP_SHARE * containerBytes);
  return {
    clock: systemClock,
    random: systemRandom,
    log,
    version: packageVersion(),
    revision: revision(),
    nodeVersion: process.version,
    heapBytes,
    openState: (path) => new StateFile(path, STATE_SHARE * heapBytes),
  };
}

function packageVersion(): string {
  const file: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  return (file as { readonly version: string }).version;
}

/** Returns the facts of `filer_exporter_build_info`, and the platform. */
export function versionLine(): string {
  const { version, platform, arch } = process;
  return `filer-exporter ${packageVersion()} (revision ${revision()}, Node.js ${version}, ${platform}/${arch})`;
}

function revision(): string {
  return process.env.FILER_EXPORTER_REVISION || 'unknown';
}
