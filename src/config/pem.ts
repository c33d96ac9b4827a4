import { Secret } from '../runtime/secret.ts';
import { type Format, invalid, type Parsed, quotedPath, valid } from './format.ts';
import { filePath } from './formats.ts';

/** A PEM file and its text, which is never shown: a file of certificates may contain the key as well. */
export class PemFile extends Secret {
  readonly path: string;
  readonly hasKey: boolean;

  constructor(path: string, text: string) {
    super(() => text);
    this.path = path;
    this.hasKey = /-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----/.test(text);
  }

  override toString(): string {
    return this.path;
  }
}

/** A variable with the path of a PEM file, which must contain a block of this kind. */
export function pemFile(block: 'certificate' | 'private key') {
  const begin = new RegExp(`-----BEGIN (?:[A-Z0-9]+ )*${block.toUpperCase()}-----`);
  return {
    ...filePath,
    label: `path of a file with a ${block}`,
    expects: 'the path of a PEM file',
    valueIn: (path: string, text: string): Parsed<PemFile> =>
      begin.test(text) ? valid(new PemFile(path, text)) : invalid(`${quotedPath(path)} contains no ${block}`),
  } as const satisfies Format<string>;
}
