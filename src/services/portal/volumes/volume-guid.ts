/** The uuid only, in lower case, as in file acceleration; two ids that differ only in the number behind it keep it. */
export function volumeGuids(ids: Iterable<string>): (id: string) => string {
  const owners = new Map<string, string>();
  const shared = new Set<string>();
  for (const id of ids) {
    const [whole, bare] = [id.toLowerCase(), volumeUuid(id)];
    const owner = owners.get(bare);
    if (owner === undefined) owners.set(bare, whole);
    else if (owner !== whole) shared.add(bare);
  }
  return (id) => (shared.has(volumeUuid(id)) ? id.toLowerCase() : volumeUuid(id));
}

/** Both services' id of one volume: in lower case, without a number at the end. */
export function volumeUuid(id: string): string {
  return id.toLowerCase().replace(/_\d+$/, '');
}
