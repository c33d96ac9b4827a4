import { listOf, UUID } from './list-types.ts';
import { invalid, type Parsed, quoted, type VariableType, valid } from './variable-type.ts';

export interface FilerAlias {
  /** The guid or serial of a filer, in lower case. */
  readonly id: string;
  /** The id of the same filer in the other service, in lower case, or else the filer's name. */
  readonly target: string;
}

/** Pairs that join two ids to one filer, or name a filer; uuids in lower case. */
export const aliasList: VariableType<readonly FilerAlias[]> = {
  label: 'list of pairs',
  expects: 'filer_guid=serial or filer_guid=name, separated by commas',
  parse: (text) => listOf(text, aliasOf),
  show: (aliases) => aliases.map(({ id, target }) => `${id}=${target}`).join(','),
};

function aliasOf(entry: string, before: readonly FilerAlias[]): Parsed<FilerAlias> {
  const [, left = '', right = ''] = /^([^=]*)=(.*)$/su.exec(entry) ?? [];
  const id = left.trim().toLowerCase();
  const named = right.trim();
  const target = UUID.test(named) ? named.toLowerCase() : named;
  if (!UUID.test(id)) return invalid(`${quoted(entry)} does not begin with a uuid and an equals sign`);
  if (target === '') return invalid(`${quoted(entry)} has nothing after the equals sign`);
  if (target === id) return invalid(`${quoted(entry)} has the same id on both sides`);
  if (before.some((alias) => alias.id === id)) return invalid(`${quoted(id)} is listed twice`);
  return valid({ id, target });
}
