import { expect, test } from 'vitest';
import { Network as Wires } from '../harness/network.ts';
import { World } from '../harness/world.ts';
import { isAtLeast } from '../support/program.ts';
import { gfaEnvironment, portalEnvironment } from '../support/real-services.ts';
import { type Trouble, troubles } from '../troubles/rows.ts';
import { visit } from './simulated-visit.ts';

/* Only here: one failure after the other, with the same next step from the doctor, in the log, on the page, in its JSON and in the alert. */

/** What a running exporter tells of a trouble in twelve minutes. */
async function lived({ variations, before, environment, hasAnother, failure }: Trouble) {
  const world = await World.begin({ appliances: 4, variations: variations ?? {}, later: true });
  const mocks = world.services;
  before?.(mocks);
  const wires = new Wires();
  if (failure !== undefined) wires.failsWith(failure);
  const exporter = await world.exporter(
    {
      ...gfaEnvironment(mocks),
      ...portalEnvironment(mocks),
      GFA_INTERVAL: '1m',
      PORTAL_INTERVAL: '1m',
      PORTAL_COLLECTORS: 'telemetry,edges=1m,license=1m',
      PORTAL_DISCOVERY_INTERVAL: '1m',
      PORTAL_SERIES: 'cpu_utilization,load_average,cache_hits_misses,cache_utilization,memory_utilization_details',
      ...(environment as Readonly<Record<string, string>>),
    },
    failure === undefined ? {} : { connect: () => wires.connect() },
  );
  if (hasAnother) await world.exporter({ ...gfaEnvironment(mocks), GFA_CLIENT_KEY: 'another', GFA_INTERVAL: '7s' });
  await world.clock.advance(720_000);
  const warnings = (await exporter.scrape()).all('filer_exporter_warning_info');
  return {
    log: exporter.log.filter(({ level }) => isAtLeast(level, 'warn')).map(({ msg }) => msg),
    page: (await exporter.page('/status')).text.replaceAll(/<[^>]*>/g, ''),
    json: (await exporter.page('/api/v1/status')).text,
    alert: warnings.map(({ labels: { happened, advice } }) => `${happened}. ${advice}`),
  };
}

const found = (texts: readonly string[], part: string) =>
  texts.filter((text) => text.toLowerCase().includes(part.toLowerCase()));

test.each(troubles)('the doctor says what is wrong and what to do if $what', async (trouble) => {
  const { complaints, found } = await visit(trouble);
  expect(complaints).toEqual(trouble.complaints);
  const findings = found.findings.filter(({ level }) => level !== 'ok');
  for (const { observed, expected, advice } of findings)
    expect({ seen: observed, next: expected ?? advice }).toMatchObject({ seen: /./, next: /./ });
  if (trouble.step === undefined) return;
  const doctor = findings.map(({ observed, advice }) => `${observed}; ${advice}`);
  await expectSteps(trouble, [trouble.step, ...(trouble.right === undefined ? [] : [trouble.right])], doctor);
});

/** The same step stands in what the doctor found, in the log, on the page, in its JSON and in the alert. */
async function expectSteps(trouble: Trouble, parts: readonly string[], doctor: readonly string[]): Promise<void> {
  const told: Record<string, readonly string[]> = { doctor };
  if (!trouble.isUnseen) {
    const { log, page, json, alert } = await lived(trouble);
    Object.assign(told, { log, page: [page], json: [json], ...(!trouble.isOfAppliance && { alert }) });
  }
  for (const part of parts) {
    for (const [place, texts] of Object.entries(told)) {
      expect({ place, found: found(texts, part) }, JSON.stringify(told, undefined, 1)).not.toEqual({
        place,
        found: [],
      });
    }
  }
}
