import type { FilerAlias } from '../config/formats.ts';
import type { ReportFinding } from '../doctor/finding.ts';
import type { Named, NamesOfService } from '../doctor/service-check.ts';
import { volumeUuid } from './portal/volumes/connections.ts';

const NONE: NamesOfService = { filers: [], volumes: [] };

/** Compares the ids and names of two services. Without one of them, only names within the other are compared. */
export function compareNames(
  gfa: NamesOfService = NONE,
  portal: NamesOfService = NONE,
  aliases: readonly FilerAlias[],
  reportFinding: ReportFinding,
): void {
  const serials = new Set(portal.filers.map(({ id }) => id.toLowerCase()));
  const aliased = new Set(aliases.filter(({ target }) => serials.has(target)).map(({ id }) => id));
  if (gfa.filers.length > 0 && serials.size > 0) {
    const joined = gfa.filers.filter(({ id }) => serials.has(id.toLowerCase()) || aliased.has(id.toLowerCase())).length;
    const observed = `${joined} of ${gfa.filers.length} filers have the id of an appliance in the portal`;
    const advice =
      'list pairs of filer_guid=serial in FILER_ALIASES, so that a filer has the same name in both services';
    if (joined > 0) reportFinding('ok', 'filer-ids', 'joined', observed);
    else reportFinding('warning', 'filer-ids', 'apart', observed, { expected: 'equal ids', advice });
  }
  const volumes = new Set(portal.volumes.map(({ id }) => volumeUuid(id)));
  if (gfa.volumes.length > 0 && volumes.size > 0) {
    const joined = gfa.volumes.filter(({ id }) => volumes.has(volumeUuid(id))).length;
    const observed = `${joined} of ${gfa.volumes.length} accelerated volumes have the id of a volume in the portal`;
    if (joined > 0) reportFinding('ok', 'volume-ids', 'joined', observed);
    else reportFinding('warning', 'volume-ids', 'apart', observed);
  }
  // Names are compared within one service, because a filer may have another id in the other service.
  reportRepeated('filer-names', [...repeatedNames(portal.filers), ...repeatedNames(gfa.filers)], reportFinding);
  reportRepeated('volume-names', repeatedNames(volumes.size > 0 ? portal.volumes : gfa.volumes), reportFinding);
  const ids = new Set([...serials, ...gfa.filers.map(({ id }) => id.toLowerCase())]);
  const unmatched = aliases.filter(({ id }) => !ids.has(id));
  if (unmatched.length > 0 && ids.size > 0) {
    const observed = `${unmatched.length} of ${aliases.length} entries name a filer that neither service has: ${unmatched[0]?.id}`;
    reportFinding('warning', 'aliases', 'unmatched', observed, { advice: 'correct or remove them in FILER_ALIASES' });
  }
}

function repeatedNames(named: readonly Named[]): readonly string[] {
  return named.flatMap(({ id, name }) => (named.some((other) => other.name === name && other.id !== id) ? [name] : []));
}

function reportRepeated(check: string, repeated: readonly string[], reportFinding: ReportFinding): void {
  if (repeated.length === 0) return;
  const names = [...new Set(repeated)].slice(0, 3).join(', ');
  const advice = 'rename one, so that people can tell them apart; the label filer gets a short id';
  reportFinding('warning', check, 'not-unique', `several filers or volumes have the name ${names}`, { advice });
}
