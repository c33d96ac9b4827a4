import { createDoctor } from '../app/doctor.ts';
import type { Config } from '../config/config.ts';
import { formatFindings } from '../doctor/finding.ts';
import { createLog } from '../runtime/log.ts';
import { printableLines } from '../runtime/printable.ts';
import { EXIT, type Options } from './arguments.ts';
import { abortOn, type CommandContext } from './command-context.ts';
import { lineMask } from './load.ts';
import { print } from './output.ts';
import { systemEnvironment } from './system-environment.ts';

export async function runDoctor(config: Config, { json }: Options, context: CommandContext): Promise<number> {
  const { stdout, stderr, stopped } = context;
  const doctor = createDoctor(config, systemEnvironment(createLog('silent', stderr)));
  stderr.write(`at most ${doctor.requests} requests, all read-only\n`);
  try {
    const findings = await doctor.run(abortOn(stopped));
    const text = json ? JSON.stringify({ findings }, undefined, 2) : printableLines(formatFindings(findings));
    await print(lineMask(config)(text), stdout);
    return findings.some(({ level }) => level === 'failure') ? EXIT.failure : EXIT.clean;
  } finally {
    await doctor.close();
  }
}
