import type { Config } from './config.ts';
import type { ServiceSection } from './table.ts';

/** Matches what examples contain in the place of a secret. */
const PLACEHOLDER = /^(?:(?:replace|change)[-_ ]?(?:me|this)|your[-_ ].*|<.*>|x{3,}|secret|token|password|todo)$/i;

export function placeholderErrors({ secrets, shown }: Config, sections: readonly ServiceSection[]): readonly string[] {
  return sections
    .flatMap(({ rows }) => rows)
    .filter(({ name }) => shown[name] !== undefined && PLACEHOLDER.test(secrets.get(name)?.reveal() ?? ''))
    .map(({ name }) => `${name}: is the placeholder of an example; expected the value that the service issued`);
}
