import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { works } from '../support/machine.ts';
import { root } from '../support/program.ts';
import { until } from '../support/until.ts';
import { blockOf } from './pages.ts';
import { BEGUN, ControlGroup, GROUPS, PREPARED } from './service-manager.ts';

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
  /** With its exit code. */
  readonly ended: Promise<number | null>;
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
  #group: ControlGroup | undefined;
  /** The first process of the machine, by which others get in. */
  #first = '';
  readonly #replacements: Replacements;

  private constructor(replacements: Replacements) {
    this.#replacements = replacements;
  }

  /** `replacements`: for the examples in every block. `first`: what its first process is. */
  static async make(replacements: Replacements, first: 'systemd' | 'sleep' = 'sleep'): Promise<Machine> {
    const machine = new Machine(replacements);
    await machine.#begin(first === 'systemd');
    return machine;
  }

  async #begin(hasSystemd: boolean): Promise<void> {
    const folder = this.#folder;
    this.#group = hasSystemd ? new ControlGroup() : undefined;
    const steps = [
      `mkdir ${folder}/layers ${folder}/root`,
      `mount -t tmpfs none ${folder}/layers`,
      `mkdir ${folder}/layers/upper ${folder}/layers/work`,
      `mount -t overlay none -o lowerdir=/,upperdir=${folder}/layers/upper,workdir=${folder}/layers/work ${folder}/root`,
      `cd ${folder}/root`,
      'mount -t proc none proc',
      'mount --rbind /dev dev',
      ...(hasSystemd ? PREPARED : ['mount --rbind /sys sys']),
      'mkdir old && pivot_root . old && umount --lazy old && rmdir old',
      'mount --make-rshared /',
      'echo ready',
      `exec ${hasSystemd ? BEGUN : 'sleep infinity'}`,
    ];
    const made = ['exec', 'unshare', ...MACHINE, ...(hasSystemd ? [GROUPS] : []), 'bash', '-ec', '"$0"'].join(' ');
    const holder = spawn('sh', ['-ec', `${this.#group?.entry ?? ':'}\n${made}`, steps.join('\n')], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#holder = holder;
    let said = '';
    for (const stream of [holder.stdout, holder.stderr]) stream.on('data', (text) => (said += text));
    await until('a machine of its own', () => said.includes('ready') || Promise.reject(new Error(said)));
    this.#first = readFileSync(`/proc/${holder.pid}/task/${holder.pid}/children`, 'utf8').trim();
    const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], { cwd: root });
    writeFileSync(join(folder, 'files'), files);
    await this.run(`mkdir -p ${CLONE} && tar -C ${root} --null -T ${folder}/files -cf - | tar -C ${CLONE} -xf -`);
    await this.run('git init -q . && git add -A && git -c user.name=t -c user.email=t@example.com commit -qm clone');
    await this.command('sudo', 'exec "$@"');
    // The pages of each way begin with `npm ci`. The first one installs, and the next ones would install the same again.
    await this.command('npm', '[ "$*" = ci ] && [ -d node_modules ] || exec "$(type -aP npm | sed -n 2p)" "$@"');
    if (hasSystemd) {
      await until(
        'systemd to have begun',
        async () => (await this.try('systemctl is-system-running')).said === 'running\n',
      );
    }
  }

  /** Puts a command of this name before the machine's own. */
  async command(name: string, script: string): Promise<void> {
    await this.write(join(COMMANDS, name), `#!/bin/bash\n${script}\n`);
    await this.run(`chmod 755 ${COMMANDS}/${name}`);
  }

  /** Writes a file of the machine. */
  async write(path: string, text: string): Promise<void> {
    const source = join(this.#folder, 'text');
    writeFileSync(source, text);
    // The folder is this machine's too, as everything is until it is changed.
    await this.run(`install -D -m 644 ${source} ${path}`);
  }

  /** A file of the machine, as text. */
  read(path: string): Promise<string> {
    return this.run(`cat ${path}`);
  }

  /** Runs commands to their end, in the clone, and gives what they said. Rejects where one fails. */
  async run(script: string): Promise<string> {
    const { status, said } = await this.try(script);
    if (status !== 0) throw new Error(`${script}\nended with ${status}: ${said}`);
    return said;
  }

  /** The same, however they end. Meanwhile this process goes on, for they may ask services that run in it. */
  async try(script: string): Promise<Outcome> {
    const started = this.#started(script);
    return { status: await started.ended, said: started.said };
  }

  /**
   * Runs a block of a page to its end, line for line, with this machine's names in the place of the examples, and with further
   * environment.
   */
  follow(name: string, environment: Replacements = {}): Promise<string> {
    return this.run(this.#scriptOf(name, environment));
  }

  /** Runs a block that ends in a program that goes on; it lasts as long as the machine. */
  start(name: string, environment: Replacements = {}): Started {
    return this.#started(this.#scriptOf(name, environment));
  }

  #started(script: string): Started {
    const child = spawn('nsenter', this.#inside(script), { env: ENVIRONMENT, stdio: ['ignore', 'pipe', 'pipe'] });
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
    const started = { said: '', hasEnded: false, ended };
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (text) => {
        started.said += text;
      });
    }
    void ended.then(() => {
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
    const group = this.#group;
    if (group !== undefined) await until('everything of the machine to have ended', () => group.isRemoved());
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #inside(script: string): string[] {
    const full = `set -euo pipefail\ncd ${CLONE} 2>/dev/null || cd /\n${script}`;
    return ['--target', this.#first, '--mount', '--pid', 'bash', '-c', full];
  }

  #scriptOf(name: string, environment: Replacements): string {
    const set = Object.entries(environment).map(([key, value]) => `export ${key}='${value}'\n`);
    return Object.entries(this.#replacements).reduce(
      (so, [from, to]) => so.replaceAll(from, to),
      set.join('') + blockOf(name).text,
    );
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
