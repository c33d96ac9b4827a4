import type { FilerAlias } from '../config/formats.ts';
import type { ServiceName } from '../contract/poll-result.ts';
import type { ReportFinding } from '../doctor/finding.ts';
import type { CheckResult, Named } from '../doctor/service-check.ts';
import { volumeUuid } from './portal/volumes/volume-guid.ts';

export function compareNames(
  results: ReadonlyMap<ServiceName, CheckResult>,
  aliases: readonly FilerAlias[],
  reportFinding: ReportFinding,
): void {
  const gfa = results.get('gfa');
  const portal = results.get('portal');
  if (gfa !== undefined && portal !== undefined) {
    compareFilers(gfa.filers, portal.filers, aliases, reportFinding);
    compareVolumes(gfa.volumes, portal.volumes, reportFinding);
  }
  // Names are compared within one service, because a filer may have another id in the other service.
  for (const [check, lists] of [
    ['filer-names', [portal?.filers ?? [], gfa?.filers ?? []]],
    ['volume-names', [portal?.volumes.length ? portal.volumes : (gfa?.volumes ?? [])]],
  ] as const) {
    const names = [...new Set(lists.flatMap(repeatedNames))];
    if (names.length === 0) continue;
    const advice = 'rename one, so that people can tell them apart; the label filer gets a short id';
    reportFinding(
      'warning',
      check,
      'not-unique',
      `several filers or volumes have the name ${names.slice(0, 3).join(', ')}`,
      { advice },
    );
  }
  const ids = new Set([...(gfa?.filers ?? []), ...(portal?.filers ?? [])].map(({ id }) => id.toLowerCase()));
  const unmatched = aliases.filter(({ id }) => !ids.has(id));
  if (unmatched.length > 0 && ids.size > 0) {
    const observed = `${unmatched.length} of ${aliases.length} entries name a filer that neither service has: ${unmatched[0]?.id}`;
    reportFinding('warning', 'aliases', 'unmatched', observed, { advice: 'correct or remove them in FILER_ALIASES' });
  }
}

function compareFilers(
  accelerated: readonly Named[],
  appliances: readonly Named[],
  aliases: readonly FilerAlias[],
  reportFinding: ReportFinding,
): void {
  if (accelerated.length === 0 || appliances.length === 0) return;
  const serials = new Set(appliances.map(({ id }) => id.toLowerCase()));
  const aliased = new Set(aliases.filter(({ target }) => serials.has(target)).map(({ id }) => id));
  const joined = accelerated.filter(({ id }) => serials.has(id.toLowerCase()) || aliased.has(id.toLowerCase())).length;
  const observed = `${joined} of ${accelerated.length} filers have the id of an appliance in the portal`;
  if (joined === 0) {
    const advice =
      'list pairs of filer_guid=serial in FILER_ALIASES, so that a filer has the same name in both services';
    reportFinding('warning', 'filer-ids', 'apart', observed, { expected: 'equal ids', advice });
  } else reportFinding('ok', 'filer-ids', 'joined', observed);
}

function compareVolumes(accelerated: readonly Named[], volumes: readonly Named[], reportFinding: ReportFinding): void {
  if (accelerated.length === 0 || volumes.length === 0) return;
  const ids = new Set(volumes.map(({ id }) => volumeUuid(id)));
  const joined = accelerated.filter(({ id }) => ids.has(volumeUuid(id))).length;
  const observed = `${joined} of ${accelerated.length} accelerated volumes have the id of a volume in the portal`;
  reportFinding(joined === 0 ? 'warning' : 'ok', 'volume-ids', joined === 0 ? 'apart' : 'joined', observed);
}

function repeatedNames(named: readonly Named[]): readonly string[] {
  return named.flatMap(({ id, name }) =>
    named.some((candidate) => candidate.name === name && candidate.id !== id) ? [name] : [],
  );
}
