import { writeFile } from 'node:fs/promises';
import process from 'node:process';
import { createDoctor } from '../app/doctor.ts';
import type { Outside } from '../app/environment.ts';
import type { Config } from '../config/config.ts';
import { checkList, isHealthy } from '../doctor/finding.ts';
import { printableLines } from '../runtime/printable.ts';
import { type DoctorOptions, EXIT } from './arguments.ts';

/** Examines the configured services and prints what was found; resolves with the exit code. */
export async function runDoctor(
  config: Config,
  outside: Outside,
  { isJson, reportPath }: DoctorOptions,
  stopped: Promise<void>,
): Promise<number> {
  const doctor = createDoctor(config, outside);
  const stopping = new AbortController();
  void stopped.then(() => stopping.abort());
  process.stderr.write(`at most ${doctor.requests} requests, all of which only read\n`);
  try {
    const found = await doctor.run(stopping.signal);
    const { findings, services } = found;
    const variants = services.flatMap((service) =>
      service.variants.map((variant) => ({ api: service.examination.api, ...variant })),
    );
    const text = isJson
      ? `${JSON.stringify({ findings, variants }, undefined, 2)}\n`
      : printableLines(checkList(findings));
    await new Promise((resolve) => process.stdout.write(text, resolve));
    if (reportPath !== undefined) {
      // Never over another file, nor through a link.
      await writeFile(reportPath, `${JSON.stringify(doctor.report(found), undefined, 2)}\n`, {
        flag: 'wx',
        mode: 0o644,
      });
      process.stderr.write(`wrote ${reportPath}: it holds no name, id, host, key or exact number\n`);
    }
    return isHealthy(findings) ? EXIT.clean : EXIT.failure;
  } finally {
    await doctor.close();
  }
}
