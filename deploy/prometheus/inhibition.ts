import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

/** While one of `sources` fires, none of `targets` is told that has these labels in common with it. */
export interface InhibitRule {
  readonly sources: readonly string[];
  readonly targets: readonly string[];
  readonly equal: readonly string[];
}

interface Written {
  readonly source_matchers: readonly string[];
  readonly target_matchers: readonly string[];
  readonly equal: readonly string[];
}

/** What the example for Alertmanager holds back. */
export const inhibitRules: readonly InhibitRule[] = (
  parse(readFileSync(new URL('alertmanager.yml', import.meta.url), 'utf8')) as { inhibit_rules: readonly Written[] }
).inhibit_rules.map(({ source_matchers, target_matchers, equal }) => ({
  sources: named(source_matchers),
  targets: named(target_matchers),
  equal,
}));

/** The alerts that matchers name, which are all of the form `alertname = A` or `alertname =~ "A|B"`. */
function named(matchers: readonly string[]): readonly string[] {
  const [matcher = '', ...others] = matchers;
  const names = /^alertname =~? "?([\w|]+)"?$/.exec(matcher)?.[1]?.split('|');
  if (names === undefined || others.length > 0) throw new Error(`${matchers.join(', ')}: expected names of alerts`);
  return names;
}
