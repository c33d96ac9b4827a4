import process from 'node:process';
import { variableRows } from '../catalog.ts';
import type { Config } from '../config/config.ts';
import { asError, ConfigError, CredentialError, RequestError, SchemaError } from '../runtime/errors.ts';
import { printable } from '../runtime/printable.ts';
import { EXIT, type Invocation, parseArguments } from './arguments.ts';
import { checkConfig } from './check-config.ts';
import { withDemo } from './demo.ts';
import { usage } from './help.ts';
import { load, type Variables } from './load.ts';
import { once } from './once.ts';
import { serve } from './serve.ts';
import { OutputError, print, versionLine } from './system-environment.ts';

/** Runs the process; resolves with its exit code. `stopped` resolves on the first signal. */
export async function run(args: readonly string[], variables: Variables, stopped: Promise<void>): Promise<number> {
  try {
    return await runCommand(parseArguments(args), variables, stopped);
  } catch (error) {
    if (error instanceof ConfigError) {
      process.stderr.write(`${error.errors.join('\n')}\n`);
      return EXIT.configuration;
    }
    process.stderr.write(`${isExpected(error) ? printable(error.message) : asError(error).stack}\n`);
    return EXIT.failure;
  }
}

/** Errors of an API, the configuration or the output are printed as a message; the stack is only for bugs. */
function isExpected(error: unknown): error is Error {
  return [RequestError, CredentialError, SchemaError, OutputError].some((kind) => error instanceof kind);
}

async function runCommand(
  { command, options }: Invocation,
  variables: Variables,
  stopped: Promise<void>,
): Promise<number> {
  switch (command) {
    case 'help':
      await print(usage(variableRows));
      return EXIT.clean;
    case 'version':
      await print(versionLine());
      return EXIT.clean;
    case 'check-config':
      return checkConfig(await load(variables));
    // The daemon does not need the code of these commands, so each loads its own.
    case 'plan': {
      const { plan } = await import('./plan.ts');
      return plan(options, variables, stopped);
    }
    case 'doctor': {
      const { runDoctor } = await import('./doctor.ts');
      const examine = (config: Config) => runDoctor(config, options, stopped);
      return options.demo ? withDemo(variables, 'none', examine) : examine(await load(variables));
    }
    case 'demo':
      return withDemo(variables, options.trouble ? 'all' : 'one', (config, notice) => serve(config, stopped, notice));
    default: {
      const config = await Promise.race([load(variables), stopped]);
      if (config === undefined) return EXIT.clean;
      return command === 'once' ? once(config, stopped) : serve(config, stopped);
    }
  }
}
