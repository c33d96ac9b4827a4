import { setMaxListeners } from 'node:events';
import { readFileSync } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import process from 'node:process';
import { getHeapStatistics } from 'node:v8';
import { type App, createApp } from '../app/app.ts';
import type { Outside } from '../app/environment.ts';
import { certificateWarnings, type Guard, readGuard } from '../app/guard.ts';
import { variableRows } from '../catalog.ts';
import type { Config, LogConfig } from '../config/config.ts';
import { effectiveConfiguration, helpText } from '../config/describe.ts';
import { settledTexts } from '../config/environment.ts';
import { loadConfig } from '../config/load.ts';
import { readAhead } from '../config/read-ahead.ts';
import { placeholderFaults, stateFileFaults } from '../config/readiness.ts';
import { type FactsOf, looseFiles, type OwnFile, warnOfLooseFiles } from '../config/secret-files.ts';
import { planText } from '../planning/text.ts';
import { systemClock } from '../runtime/clock.ts';
import { asError, ConfigError, CredentialError, RequestError, ShapeError } from '../runtime/errors.ts';
import { endNow, threadsAtRest } from '../runtime/exit.ts';
import { createLog, type Log } from '../runtime/log.ts';
import { usableHeapBytes } from '../runtime/memory.ts';
import { printable } from '../runtime/printable.ts';
import { systemRandom } from '../runtime/random.ts';
import { SmallFiles } from '../runtime/small-files.ts';
import { gfaSection } from '../sources/gfa/configuration.ts';
import { portalSection } from '../sources/portal/configuration.ts';
import { planOf } from '../sources/portal/planning.ts';
import { upstreams } from '../sources/upstreams.ts';
import { FileStore } from '../state/file-store.ts';
import { type Command, EXIT, type Invocation, parseArguments, usage } from './arguments.ts';
import { runDoctor } from './doctor.ts';

const serviceSections = upstreams.map(({ section }) => section);

type Environment = Readonly<Record<string, string | undefined>>;

/** The whole life of the process; resolves with its exit code. `stopped` resolves when it is asked to stop. */
export async function run(args: readonly string[], environment: Environment, stopped: Promise<void>): Promise<number> {
  try {
    return await obey(parseArguments(args), environment, stopped);
  } catch (error) {
    if (error instanceof ConfigError) {
      process.stderr.write(`${error.faults.join('\n')}\n`);
      return EXIT.configuration;
    }
    process.stderr.write(`${isExpected(error) ? printable(error.message) : asError(error).stack}\n`);
    return EXIT.failure;
  }
}

/** Trouble with an API is told by its message; a stack is for defects. */
function isExpected(error: unknown): error is Error {
  return error instanceof RequestError || error instanceof CredentialError || error instanceof ShapeError;
}

async function obey(invocation: Invocation, environment: Environment, stopped: Promise<void>): Promise<number> {
  const { command } = invocation;
  if (command === 'help') return say(usage(helpText(variableRows)));
  if (command === 'version') return say(packageVersion());
  if (command === 'check-config') return checkConfig(await load(environment));
  if (command === 'plan') return plan(invocation, environment, stopped);
  if (command === 'doctor' && !invocation.doctor?.isDemo) return doctor(await load(environment), invocation, stopped);
  if (command !== 'demo' && command !== 'doctor') {
    const config = await Promise.race([load(environment), stopped]);
    if (config === undefined) return EXIT.clean;
    return live(command, command === 'once' ? withOwnClientKey(config) : config, stopped);
  }
  // Loaded only when asked for: a real exporter has no use for made-up services.
  const { demoEnvironment, startDemo, variationsLike } = await import('../demo/demo.ts');
  const like = invocation.like === undefined ? {} : variationsLike(await readReport(invocation.like));
  const demo = await startDemo(systemClock, like);
  try {
    const config = await load(demoEnvironment(environment, demo), noFile);
    return await (command === 'doctor' ? doctor(config, invocation, stopped) : live(command, config, stopped));
  } finally {
    await demo.close();
  }
}

function doctor(config: Config, invocation: Invocation, stopped: Promise<void>): Promise<number> {
  const log = createLog('silent', process.stderr);
  const options = invocation.doctor ?? { isJson: false, reportPath: undefined, isDemo: false };
  return runDoctor(config, outside(log), options, stopped);
}

async function checkConfig(config: Config): Promise<number> {
  const guard = await readGuard(config.web, webFiles.read, factsOf);
  const warnings = [
    ...config.warnings,
    ...(await looseFiles(ownFiles(config, guard), factsOf)),
    ...certificateWarnings(guard, systemClock.now() / 1000),
  ];
  for (const line of warnings) process.stderr.write(`warning: ${line}\n`);
  say(effectiveConfiguration(config, serviceSections));
  const faults = [...placeholderFaults(config, serviceSections), ...(await stateFileFaults(config.stateFile))];
  if (faults.length > 0) throw new ConfigError(faults);
  return say('# the configuration is valid');
}

/** With a client key of its own: the service gives each event once to each key, and those of the daemon's are the daemon's. */
function withOwnClientKey(config: Config): Config {
  const gfa = gfaSection.of(config);
  if (gfa === undefined) return config;
  const stamp = new Date(systemClock.now()).toISOString().replaceAll(/\D/g, '').slice(0, 14);
  const own = { ...gfa, clientKey: `${gfa.clientKey}-once-${stamp}` };
  return { ...config, services: new Map(config.services).set(gfaSection.api, own) };
}

function ownFiles(config: Config, guard: Guard | undefined): readonly OwnFile[] {
  return [...config.ownFiles, ...(guard?.first.rules.ownFiles ?? [])];
}

const factsOf: FactsOf = async (path) => {
  try {
    const [{ mode, uid: owner }, realPath] = await Promise.all([stat(path), realpath(path)]);
    const { mode: folderMode } = await stat(dirname(realPath));
    return { mode, owner, realPath, folderMode, self: process.geteuid?.() };
  } catch {
    return undefined;
  }
};

async function live(command: Command, config: Config, stopped: Promise<void>): Promise<number> {
  // Every poll under way hears of the stop by one signal: above ten, by default, Node would call that a leak.
  setMaxListeners(4 * (portalSection.of(config)?.concurrency ?? 0) + 20);
  const log = createLog(config.log.level, await destinationOf(config.log, command));
  process.on('unhandledRejection', (reason) => {
    log.error({ err: asError(reason) }, 'a defect: a promise was rejected and nobody heard; going on');
  });
  process.on('uncaughtException', (error) => {
    // By the log, and not by Node: that prints whatever hangs on an error, such as the headers of a request.
    log.error({ err: asError(error) }, 'a defect: an exception that nobody caught; ending');
    endNow(EXIT.failure);
  });
  // Files are read for it, and a disk may hang: whoever asks to stop meanwhile need not wait for that.
  const app = await Promise.race([prepared(config, log), stopped]);
  if (command === 'once') return app ? once(app, stopped) : EXIT.failure;
  return app ? serve(app, config, stopped) : EXIT.clean;
}

async function prepared(config: Config, log: Log): Promise<App> {
  const guard = await readGuard(config.web, webFiles.read, factsOf);
  for (const line of config.warnings) log.warn(line);
  await warnOfLooseFiles(ownFiles(config, guard), factsOf, log);
  for (const reason of certificateWarnings(guard, systemClock.now() / 1000)) {
    log.warn({ reason }, 'clients will refuse the server certificate');
  }
  return createApp(config, outside(log), guard);
}

function outside(log: Log): Outside {
  return {
    clock: systemClock,
    random: systemRandom,
    log,
    version: packageVersion(),
    revision: process.env.FILER_EXPORTER_REVISION || 'unknown',
    nodeVersion: process.version,
    heapBytes: usableHeapBytes({
      heapLimitBytes: getHeapStatistics().heap_size_limit,
      containerBytes: process.constrainedMemory?.(),
    }),
    openState: (path) => new FileStore(path),
  };
}

/** What the limits allow: for so many appliances without asking anybody, else for those of the account's inventory. */
async function plan({ appliances }: Invocation, environment: Environment, stopped: Promise<void>): Promise<number> {
  const placeholder = { PORTAL_URL: 'https://portal.invalid', PORTAL_USER_KEY: 'not-used' };
  const readFile = await readAhead(environment, variableRows, secretFiles.read);
  const isConfigured =
    appliances === undefined || settledTexts(environment, readFile, variableRows).texts.has('PORTAL_URL');
  const config = await load(isConfigured ? environment : { ...environment, ...placeholder });
  const portal = portalSection.of(config);
  if (portal === undefined) {
    throw new ConfigError(['--plan: PORTAL_URL is not set; configure the portal, or give a number with --appliances']);
  }
  const found = appliances ?? (await countAppliances(config, stopped));
  const switched = { portal, hasGfa: gfaSection.of(config) !== undefined, events: config.events };
  say(await planText(switched, found, config.shard.total));
  return planOf(portal, found, config.shard.total).fits ? EXIT.clean : EXIT.failure;
}

async function countAppliances(config: Config, stopped: Promise<void>): Promise<number> {
  const app = createApp(config, outside(createLog('silent', process.stderr)));
  let ended: Promise<void> | undefined;
  const stop = () => {
    ended ??= app.stop();
    return ended;
  };
  // What is under way is given up then, and the count with it.
  void stopped.then(stop);
  try {
    return await app.countAppliances();
  } finally {
    await stop();
  }
}

async function serve(app: App, { web, shutdownTimeoutMs }: Config, stopped: Promise<void>): Promise<number> {
  try {
    // A name server or a disk that hangs may hold up the start for long.
    await Promise.race([app.start(), stopped]);
  } catch (error) {
    const address = `${web.host ?? ''}:${web.port}`;
    process.stderr.write(
      `listening on ${address}: ${asError(error).message}; choose another address with LISTEN_ADDRESS\n`,
    );
    await app.stop();
    return EXIT.failure;
  }
  await stopped;
  const deadline = systemClock.monotonic() + shutdownTimeoutMs;
  await app.stop();
  // A name that is being looked up for a poll that was given up is waited for as long as there is time.
  await threadsAtRest(systemClock, deadline);
  return EXIT.clean;
}

async function once(app: App, stopped: Promise<void>): Promise<number> {
  const stopping = new AbortController();
  void stopped.then(() => stopping.abort());
  const { exposition, polled } = await app.once(stopping.signal);
  await app.stop();
  await new Promise((resolve) => process.stdout.write(exposition, resolve));
  return polled ? EXIT.clean : EXIT.failure;
}

async function load(environment: Environment, readAgain = secretFiles.read): Promise<Config> {
  const readFile = await readAhead(environment, variableRows, readAgain);
  return loadConfig({ environment, readFile, readAgain, services: serviceSections });
}

/** `.env`, and what holds one secret. */
const secretFiles = new SmallFiles(systemClock, 64 * 1024);

/** The web configuration, certificates and keys. */
const webFiles = new SmallFiles(systemClock, 1024 * 1024);

async function readReport(path: string): Promise<unknown> {
  try {
    return JSON.parse(await webFiles.read(path));
  } catch (error) {
    throw new ConfigError([`--like ${path}: ${asError(error).message}; expected a report of --doctor --report`]);
  }
}

/** For the demo, which no `.env` of a real account may touch. */
function noFile(path: string): Promise<never> {
  return Promise.reject(Object.assign(new Error(`${path}: not read in the demo`), { code: 'ENOENT' }));
}

/** Pretty on a terminal, where the package for it is installed; the image leaves it out. `--once` keeps stdout clean. */
async function destinationOf({ format }: LogConfig, command: Command): Promise<NodeJS.WritableStream> {
  const out = command === 'once' ? process.stderr : process.stdout;
  if (format === 'json' || (format === 'auto' && !out.isTTY)) return out;
  try {
    const { default: pretty } = await import('pino-pretty');
    return pretty({ destination: out, colorize: out.isTTY, singleLine: true, sync: true });
  } catch {
    return out;
  }
}

function packageVersion(): string {
  const file: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  return (file as { readonly version: string }).version;
}

function say(text: string): number {
  process.stdout.write(text.endsWith('\n') ? text : `${text}\n`);
  return EXIT.clean;
}
