/**
 * What volumes are called in labels, by the portal's ids: the uuid alone, in lower case, which is how the file
 * acceleration service calls them (upstream-api.md 5.4). Where two ids differ in the number behind the uuid alone, both
 * keep it: they are two volumes.
 */
export function volumeGuids(ids: Iterable<string>): (id: string) => string {
  const owners = new Map<string, string>();
  const shared = new Set<string>();
  for (const id of ids) {
    const [whole, bare] = [id.toLowerCase(), bareOf(id)];
    const owner = owners.get(bare);
    if (owner === undefined) owners.set(bare, whole);
    else if (owner !== whole) shared.add(bare);
  }
  return (id) => (shared.has(bareOf(id)) ? id.toLowerCase() : bareOf(id));
}

function bareOf(id: string): string {
  return id.toLowerCase().replace(/_\d+$/, '');
}
