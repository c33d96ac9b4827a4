import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

/**
 * While an alert of `sources` fires, no message is sent about an alert of `targets` that has equal values of the labels
 * `equal`.
 */
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

/** The inhibitions of the example configuration of Alertmanager. */
export const inhibitRules: readonly InhibitRule[] = (
  parse(readFileSync(new URL('alertmanager.yml', import.meta.url), 'utf8')) as { inhibit_rules: readonly Written[] }
).inhibit_rules.map(({ source_matchers, target_matchers, equal }) => ({
  sources: named(source_matchers),
  targets: named(target_matchers),
  equal,
}));

/** Returns the alerts that matchers name. Each matcher is `alertname = A` or `alertname =~ "A|B"`. */
function named(matchers: readonly string[]): readonly string[] {
  const [matcher = '', ...others] = matchers;
  const names = /^alertname =~? "?([\w|]+)"?$/.exec(matcher)?.[1]?.split('|');
  if (names === undefined || others.length > 0) throw new Error(`${matchers.join(', ')}: expected names of alerts`);
  return names;
}
