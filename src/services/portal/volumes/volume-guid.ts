/**
 * Maps portal ids of volumes to the guids of file acceleration: the uuid in lower case, without the number that some
 * portal ids have at the end. Two ids that differ only in this number keep it.
 */
export function volumeGuids(ids: Iterable<string>): (id: string) => string {
  const owners = new Map<string, string>();
  const shared = new Set<string>();
  for (const id of ids) {
    const [lowerCaseId, uuid] = [id.toLowerCase(), volumeUuid(id)];
    const owner = owners.get(uuid);
    if (owner === undefined) owners.set(uuid, lowerCaseId);
    else if (owner !== lowerCaseId) shared.add(uuid);
  }
  return (id) => (shared.has(volumeUuid(id)) ? id.toLowerCase() : volumeUuid(id));
}

/** The id in lower case, without a number at the end. */
export function volumeUuid(id: string): string {
  return id.toLowerCase().replace(/_\d+$/, '');
}
