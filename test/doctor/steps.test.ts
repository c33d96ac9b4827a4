import { expect, test } from 'vitest';
import { Network as Wires } from '../harness/network.ts';
import { World } from '../harness/world.ts';
import { isAtLeast } from '../support/program.ts';
import { gfaEnvironment, portalEnvironment } from '../support/real-services.ts';
import { visit } from './simulated-visit.ts';
import { type Trouble, troubles } from './troubles.ts';

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

test.each(troubles)('doctor, log, page, its JSON and alert say the same step if $what', async (trouble) => {
  const { step, right, isUnseen, isOfAppliance } = trouble;
  const { findings } = (await visit(trouble)).found;
  const doctor = findings.filter(({ level }) => level !== 'ok').map(({ observed, advice }) => `${observed}; ${advice}`);
  const { log, page, json, alert } = await lived(trouble);
  const told = { doctor, ...(!isUnseen && { log, page: [page], json: [json], ...(!isOfAppliance && { alert }) }) };
  for (const part of right === undefined ? [step] : [step, right]) {
    for (const [place, texts] of Object.entries(told)) {
      expect({ place, found: found(texts, part) }, JSON.stringify(told, undefined, 1)).not.toEqual({
        place,
        found: [],
      });
    }
  }
});
