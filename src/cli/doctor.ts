import { type FileHandle, open } from 'node:fs/promises';
import process from 'node:process';
import { createDoctor } from '../app/doctor.ts';
import type { Config } from '../config/config.ts';
import { formatFindings } from '../doctor/finding.ts';
import { asError, ConfigError } from '../runtime/errors.ts';
import { createLog } from '../runtime/log.ts';
import { printableLines } from '../runtime/printable.ts';
import { EXIT, type Options } from './arguments.ts';
import { lineMask } from './load.ts';
import { abortOn, print, systemEnvironment } from './system-environment.ts';

export async function runDoctor(
  config: Config,
  { json, report: path }: Options,
  stopped: Promise<void>,
): Promise<number> {
  // The report file is created before any request is sent, so that a wrong path costs none. It replaces no file and
  // follows no link.
  const report = path === undefined ? undefined : await newFile(path);
  const doctor = createDoctor(config, systemEnvironment(createLog('silent', process.stderr)));
  process.stderr.write(`at most ${doctor.requests} requests, all read-only\n`);
  try {
    const found = await doctor.run(abortOn(stopped));
    const { findings, services } = found;
    const answers = services.flatMap(({ api, answers: own }) => own.map((answer) => ({ api, ...answer })));
    const masked = lineMask(config);
    await print(
      masked(
        json ? `${JSON.stringify({ findings, answers }, undefined, 2)}\n` : printableLines(formatFindings(findings)),
      ),
    );
    if (report !== undefined) {
      await report.writeFile(masked(`${JSON.stringify(doctor.report(found), undefined, 2)}\n`));
      process.stderr.write(`wrote ${path}: it contains no names, ids, hosts, keys or exact numbers\n`);
    }
    return findings.some(({ level }) => level === 'failure') ? EXIT.failure : EXIT.clean;
  } finally {
    await report?.close();
    await doctor.close();
  }
}

async function newFile(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'wx', 0o644);
  } catch (error) {
    throw new ConfigError([`--report ${path}: ${asError(error).message}; expected the path of a new file`]);
  }
}
