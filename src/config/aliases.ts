import { bad, good, type Kind, type Parsed, quoted } from './kind.ts';
import { listOf, UUID } from './lists.ts';

export interface FilerAlias {
  /** The guid or serial of a filer, in lower case. */
  readonly id: string;
  /** The id of the same filer in the other service, in lower case, or else the filer's name. */
  readonly is: string;
}

/** Pairs that join two ids to one filer, or name a filer; uuids in lower case. */
export const aliasList: Kind<readonly FilerAlias[]> = {
  label: 'list of pairs',
  expects: 'filer_guid=serial or filer_guid=name, separated by commas',
  parse: (text) => listOf(text, aliasOf),
  show: (aliases) => aliases.map(({ id, is }) => `${id}=${is}`).join(','),
};

function aliasOf(entry: string, before: readonly FilerAlias[]): Parsed<FilerAlias> {
  const [, left = '', right = ''] = /^([^=]*)=(.*)$/su.exec(entry) ?? [];
  const id = left.trim().toLowerCase();
  const named = right.trim();
  const is = UUID.test(named) ? named.toLowerCase() : named;
  if (!UUID.test(id)) return bad(`${quoted(entry)} does not begin with a uuid and an equals sign`);
  if (is === '') return bad(`${quoted(entry)} has nothing after the equals sign`);
  if (is === id) return bad(`${quoted(entry)} has the same id on both sides`);
  if (before.some((alias) => alias.id === id)) return bad(`${quoted(id)} is listed twice`);
  return good({ id, is });
}
