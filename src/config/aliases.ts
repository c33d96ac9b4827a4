import type { FilerAlias } from './config.ts';
import { bad, entriesOf, type Flaw, good, type Kind, quoted } from './kind.ts';

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** Pairs that join two ids to one filer, or name a filer; uuids in lower case. */
export const aliasList: Kind<readonly FilerAlias[]> = {
  label: 'list of pairs',
  expects: 'filer_guid=serial or filer_guid=name, separated by commas',
  parse: (text) => {
    const aliases: FilerAlias[] = [];
    const flaws: Flaw[] = [];
    for (const entry of entriesOf(text)) {
      const alias = aliasOf(entry, aliases);
      if ('what' in alias) flaws.push(alias);
      else aliases.push(alias);
    }
    if (flaws.length > 0) return { state: 'bad', flaws };
    return aliases.length === 0 ? bad(`${quoted(text)} is an empty list`) : good(aliases);
  },
  show: (aliases) => aliases.map(({ id, is }) => `${id}=${is}`).join(','),
};

function aliasOf(entry: string, before: readonly FilerAlias[]): FilerAlias | Flaw {
  const [, left = '', right = ''] = /^([^=]*)=(.*)$/su.exec(entry) ?? [];
  const id = left.trim().toLowerCase();
  const named = right.trim();
  const is = UUID.test(named) ? named.toLowerCase() : named;
  if (!UUID.test(id)) return { what: `${quoted(entry)} does not begin with a uuid and an equals sign` };
  if (is === '') return { what: `${quoted(entry)} has nothing after the equals sign` };
  if (is === id) return { what: `${quoted(entry)} has the same id on both sides` };
  if (before.some((alias) => alias.id === id)) return { what: `${quoted(id)} is listed twice` };
  return { id, is };
}
