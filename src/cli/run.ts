import { variableRows } from '../catalog.ts';
import type { Config } from '../config/config.ts';
import { asError, ConfigError, CredentialError, RequestError, SchemaError } from '../runtime/errors.ts';
import { printable } from '../runtime/printable.ts';
import { EXIT, type Invocation, parseArguments } from './arguments.ts';
import { checkConfig } from './check-config.ts';
import type { CommandContext } from './command-context.ts';
import { withDemo } from './demo.ts';
import { usage } from './help.ts';
import { load } from './load.ts';
import { once } from './once.ts';
import { OutputError, print } from './output.ts';
import { serve } from './serve.ts';
import { versionLine } from './system-environment.ts';

/** Runs the command that the arguments name; resolves with the exit code of the process. */
export async function run(args: readonly string[], context: CommandContext): Promise<number> {
  try {
    return await runCommand(parseArguments(args), context);
  } catch (error) {
    if (error instanceof ConfigError) {
      context.stderr.write(`${error.errors.join('\n')}\n`);
      return EXIT.configuration;
    }
    context.stderr.write(`${isExpected(error) ? printable(error.message) : asError(error).stack}\n`);
    return EXIT.failure;
  }
}

/** Errors of an API, the configuration or the output are printed as a message; the stack is only for bugs. */
function isExpected(error: unknown): error is Error {
  return [RequestError, CredentialError, SchemaError, OutputError].some((kind) => error instanceof kind);
}

async function runCommand({ command, options }: Invocation, context: CommandContext): Promise<number> {
  switch (command) {
    case 'help':
      await print(usage(variableRows), context.stdout);
      return EXIT.clean;
    case 'version':
      await print(versionLine(), context.stdout);
      return EXIT.clean;
    case 'check-config':
      return checkConfig(await load(context), context);
    // The daemon does not need the code of these commands, so each loads its own.
    case 'plan': {
      const { plan } = await import('./plan.ts');
      return plan(options, context);
    }
    case 'doctor': {
      const { runDoctor } = await import('./doctor.ts');
      const examine = (config: Config) => runDoctor(config, options, context);
      return options.demo ? withDemo(context, 'none', examine) : examine(await load(context));
    }
    case 'demo':
      return withDemo(context, options.trouble ? 'all' : 'one', (config, notice) => serve(config, context, notice));
    default: {
      const config = await Promise.race([load(context), context.stopped]);
      if (config === undefined) return EXIT.clean;
      return command === 'once' ? once(config, context) : serve(config, context);
    }
  }
}
