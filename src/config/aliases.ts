import { type Format, invalid, quoted, valid } from './format.ts';
import { UUID } from './formats.ts';

export interface FilerAlias {
  /** The guid or serial of a filer, in lower case. */
  readonly id: string;
  /** The id of the same filer in the other service, in lower case, or else the filer's name. */
  readonly target: string;
}

/** A pair that joins two ids to one filer, or names a filer, as an entry of a list; uuids in lower case. */
export const alias: Format<FilerAlias> = {
  label: 'pairs',
  expects: 'filer_guid=serial or filer_guid=name',
  parse: (text) => {
    const [, left = '', right = ''] = /^([^=]*)=(.*)$/su.exec(text) ?? [];
    const id = left.trim().toLowerCase();
    const named = right.trim();
    const target = UUID.test(named) ? named.toLowerCase() : named;
    if (!UUID.test(id)) return invalid(`${quoted(text)} does not begin with a uuid and an equals sign`);
    if (target === '') return invalid(`${quoted(text)} has nothing after the equals sign`);
    if (target === id) return invalid(`${quoted(text)} has the same id on both sides`);
    return valid({ id, target });
  },
  show: ({ id, target }) => `${id}=${target}`,
};
