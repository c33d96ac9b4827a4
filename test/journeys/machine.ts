import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { works } from '../support/machine.ts';
import { root } from '../support/program.ts';
import { until } from '../support/until.ts';
import { blockOf } from './pages.ts';

/** Mounts and processes of its own; they all end with the first of them. */
const MACHINE = ['--mount', '--pid', '--fork', '--kill-child'] as const;

/** Whether a file system can lie over the whole of another. */
const OVERLAY =
  'mount -t tmpfs none /mnt && mkdir /mnt/u /mnt/w /mnt/r && ' +
  'mount -t overlay none -o lowerdir=/,upperdir=/mnt/u,workdir=/mnt/w /mnt/r';

/** Whether this process may make a machine: it has to be root, and may need more than some containers give. */
export const canMakeMachines: boolean = works('unshare', ...MACHINE, 'sh', '-ec', OVERLAY);

/** How a block or a command ended. */
export interface Outcome {
  readonly status: number | null;
  readonly said: string;
}

/** A block that goes on. */
export interface Started {
  readonly said: string;
  readonly hasEnded: boolean;
}

/** What a page has as an example, and what stands there on this machine. */
export type Replacements = Readonly<Record<string, string>>;

const CLONE = '/srv/filer-exporter';
const COMMANDS = '/usr/local/sbin';

/**
 * A copy of this machine that nobody else sees, by an overlay over its whole file system: what is installed or removed in it
 * is gone with it. It has a fresh clone of the repository, in which everything runs. The network is this machine's.
 */
export class Machine {
  readonly #folder = mkdtempSync(join(tmpdir(), 'filer-exporter-journey-'));
  #holder: ChildProcess | undefined;
  /** The first process of the machine, by which others get in. */
  #first = '';
  readonly #replacements: Replacements;

  private constructor(replacements: Replacements) {
    this.#replacements = replacements;
  }

  /** `replacements`: for the examples in every block. */
  static async make(replacements: Replacements): Promise<Machine> {
    const machine = new Machine(replacements);
    await machine.#begin();
    return machine;
  }

  async #begin(): Promise<void> {
    const folder = this.#folder;
    const steps = [
      `mkdir ${folder}/layers ${folder}/root`,
      `mount -t tmpfs none ${folder}/layers`,
      `mkdir ${folder}/layers/upper ${folder}/layers/work`,
      `mount -t overlay none -o lowerdir=/,upperdir=${folder}/layers/upper,workdir=${folder}/layers/work ${folder}/root`,
      `mount -t proc none ${folder}/root/proc`,
      `for name in dev sys; do mount --rbind /$name ${folder}/root/$name; done`,
      'echo ready',
      'exec sleep infinity',
    ];
    const holder = spawn('unshare', [...MACHINE, 'bash', '-ec', steps.join('\n')], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#holder = holder;
    let said = '';
    for (const stream of [holder.stdout, holder.stderr]) stream.on('data', (text) => (said += text));
    await until('a machine of its own', () => said.includes('ready') || Promise.reject(new Error(said)));
    this.#first = readFileSync(`/proc/${holder.pid}/task/${holder.pid}/children`, 'utf8').trim();
    const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], { cwd: root });
    writeFileSync(join(folder, 'files'), files);
    this.run(`mkdir -p ${CLONE} && tar -C ${root} --null -T ${folder}/files -cf - | tar -C ${CLONE} -xf -`);
    this.command('sudo', 'exec "$@"');
  }

  /** Puts a command of this name before the machine's own. */
  command(name: string, script: string): void {
    this.write(join(COMMANDS, name), `#!/bin/bash\n${script}\n`);
    this.run(`chmod 755 ${COMMANDS}/${name}`);
  }

  /** Writes a file of the machine. */
  write(path: string, text: string): void {
    const source = join(this.#folder, 'text');
    writeFileSync(source, text);
    // The folder is this machine's too, as everything is until it is changed.
    this.run(`install -D -m 644 ${source} ${path}`);
  }

  /** A file of the machine, as text. */
  read(path: string): string {
    return this.run(`cat ${path}`).said;
  }

  /** Runs commands to their end, in the clone. Throws where one fails. */
  run(script: string): Outcome {
    const outcome = this.try(script);
    if (outcome.status !== 0) throw new Error(`${script}\nended with ${outcome.status}: ${outcome.said}`);
    return outcome;
  }

  /** The same, however they end. */
  try(script: string): Outcome {
    const { status, stdout, stderr } = spawnSync('nsenter', this.#inside(script), {
      encoding: 'utf8',
      env: ENVIRONMENT,
    });
    return { status, said: `${stdout}${stderr}` };
  }

  /** Runs a block of a page to its end, line for line, with this machine's names in the place of the examples. */
  follow(name: string, more: Replacements = {}): Outcome {
    return this.run(this.#filled(blockOf(name).text, more));
  }

  /** Runs a block that ends in a program that goes on, with further environment; it lasts as long as the machine. */
  start(name: string, environment: Replacements = {}): Started {
    const set = Object.entries(environment).map(([key, value]) => `export ${key}='${value}'\n`);
    const script = set.join('') + this.#filled(blockOf(name).text, {});
    const child = spawn('nsenter', this.#inside(script), { env: ENVIRONMENT, stdio: ['ignore', 'pipe', 'pipe'] });
    const started = { said: '', hasEnded: false };
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (text) => {
        started.said += text;
      });
    }
    child.once('close', () => {
      started.hasEnded = true;
    });
    return started;
  }

  /** Ends everything that runs in it and removes it. */
  async remove(): Promise<void> {
    const holder = this.#holder;
    if (holder !== undefined && holder.exitCode === null) {
      const ended = new Promise((resolve) => holder.once('close', resolve));
      holder.kill('SIGKILL');
      await ended;
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #inside(script: string): string[] {
    const full = `set -euo pipefail\ncd ${CLONE} 2>/dev/null || cd /\n${script}`;
    return ['--target', this.#first, '--mount', '--pid', 'chroot', join(this.#folder, 'root'), 'bash', '-c', full];
  }

  #filled(text: string, more: Replacements): string {
    return Object.entries({ ...this.#replacements, ...more }).reduce((so, [from, to]) => so.replaceAll(from, to), text);
  }
}

/** What of the tests' own environment a block of a page has too: who it runs for, and the way to packages. */
const KEPT = /^(?:HOME|USER|LANG|(?:https?|no)_proxy|NODE_EXTRA_CA_CERTS|npm_config_(?:registry|cafile|userconfig))$/i;

/** Folders of programs that npm puts before all others while it runs a script: a reader's shell has none of them. */
const OF_NPM = /\/node_modules\//;

/**
 * The environment of a shell that a reader opens. The tests run below npm, which tells every npm below it what it was asked
 * for itself, by variables such as `npm_config_package`: `npx` would take that for its own.
 */
const ENVIRONMENT = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => KEPT.test(name))),
  PATH: [
    ...[COMMANDS, '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'],
    ...(process.env.PATH ?? '').split(':').filter((folder) => !OF_NPM.test(folder)),
  ].join(':'),
  DEBIAN_FRONTEND: 'noninteractive',
  npm_config_audit: 'false',
  npm_config_fund: 'false',
};
