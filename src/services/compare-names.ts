import type { FilerAlias } from '../config/aliases.ts';
import type { ServiceName } from '../contract/poll-result.ts';
import type { ReportFinding } from '../doctor/finding.ts';
import type { Named, ServiceAnswers } from '../doctor/service-check.ts';
import { volumeUuid } from './portal/volumes/volume-guid.ts';

export function compareNames(
  answers: ReadonlyMap<ServiceName, ServiceAnswers>,
  aliases: readonly FilerAlias[],
  find: ReportFinding,
): void {
  const accelerator = answers.get('gfa');
  const portal = answers.get('portal');
  if (accelerator !== undefined && portal !== undefined) {
    compareFilers(accelerator.filers, portal.filers, aliases, find);
    compareVolumes(accelerator.volumes, portal.volumes, find);
  }
  // Within one service: the same filer may have another id in the other one.
  for (const [check, lists] of [
    ['filer-names', [portal?.filers ?? [], accelerator?.filers ?? []]],
    ['volume-names', [portal?.volumes.length ? portal.volumes : (accelerator?.volumes ?? [])]],
  ] as const) {
    const names = [...new Set(lists.flatMap(repeatedNames))];
    if (names.length === 0) continue;
    const advice = 'rename one, so that people can tell them apart; the label filer gets a short id';
    find('warning', check, 'not-unique', `several have the name ${names.slice(0, 3).join(', ')}`, { advice });
  }
  const ids = new Set([...(accelerator?.filers ?? []), ...(portal?.filers ?? [])].map(({ id }) => id.toLowerCase()));
  const unmatched = aliases.filter(({ id }) => !ids.has(id));
  if (unmatched.length > 0 && ids.size > 0) {
    const seen = `${unmatched.length} of ${aliases.length} entries name a filer that neither service has: ${unmatched[0]?.id}`;
    find('warning', 'aliases', 'unmatched', seen, { advice: 'correct or remove them in FILER_ALIASES' });
  }
}

function compareFilers(
  accelerated: readonly Named[],
  appliances: readonly Named[],
  aliases: readonly FilerAlias[],
  find: ReportFinding,
): void {
  if (accelerated.length === 0 || appliances.length === 0) return;
  const serials = new Set(appliances.map(({ id }) => id.toLowerCase()));
  const aliased = new Set(aliases.filter(({ target }) => serials.has(target)).map(({ id }) => id));
  const joined = accelerated.filter(({ id }) => serials.has(id.toLowerCase()) || aliased.has(id.toLowerCase())).length;
  const seen = `${joined} of ${accelerated.length} filers have the id of an appliance in the portal`;
  if (joined === 0) {
    const advice =
      'list pairs of filer_guid=serial in FILER_ALIASES, so that a filer has the same name in both services';
    find('warning', 'filer-ids', 'apart', seen, { expected: 'equal ids', advice });
  } else find('ok', 'filer-ids', 'joined', seen);
}

function compareVolumes(accelerated: readonly Named[], volumes: readonly Named[], find: ReportFinding): void {
  if (accelerated.length === 0 || volumes.length === 0) return;
  const ids = new Set(volumes.map(({ id }) => volumeUuid(id)));
  const joined = accelerated.filter(({ id }) => ids.has(volumeUuid(id))).length;
  const seen = `${joined} of ${accelerated.length} accelerated volumes have the id of a volume in the portal`;
  find(joined === 0 ? 'warning' : 'ok', 'volume-ids', joined === 0 ? 'apart' : 'joined', seen);
}

function repeatedNames(named: readonly Named[]): readonly string[] {
  return named.flatMap(({ id, name }) => (named.some((one) => one.name === name && one.id !== id) ? [name] : []));
}
