import { describe, expect, test } from 'vitest';
import { alertRules } from '../../../deploy/prometheus/groups.ts';
import type { Severity } from '../../../deploy/prometheus/rule.ts';
import { inhibitions } from './inhibition.ts';

/* What the example for Alertmanager holds back is never worse than what holds it back, and is about the same thing. */

const pairs = inhibitions();
const urgency: Readonly<Record<Severity, number>> = { warning: 1, critical: 2 };

/** The labels that an alert has when it fires: its account, and what it is about, which its description says. */
function labelsOf(alert: string): readonly string[] {
  const { description = '' } = alertRules.find((rule) => rule.alert === alert) ?? {};
  if (alert === 'FilerExporterAbsent') return [];
  const named = [...description.matchAll(/\{\{ \$labels\.(\w+) \}\}/g)].map(([, label = '']) => label);
  return [...new Set(['job', ...named])];
}

describe('an alert is held back', () => {
  test.each(pairs.map((pair) => [pair.source.alert, pair.target.alert, pair] as const))(
    'by %s: %s, which is no worse and about the same thing',
    (_source, _target, { source, target, equal }) => {
      expect(urgency[source.severity]).toBeGreaterThanOrEqual(urgency[target.severity]);
      // Alertmanager takes a label that both lack for equal: then one alert would silence all of the other kind.
      for (const label of equal) {
        expect(labelsOf(source.alert)).toContain(label);
        expect(labelsOf(target.alert)).toContain(label);
      }
    },
  );

  test('by none that it holds back itself, however long the way', () => {
    const heldBy = (alert: string, seen: readonly string[] = []): readonly string[] =>
      seen.includes(alert)
        ? seen
        : pairs
            .filter((pair) => pair.source.alert === alert)
            .flatMap((pair) => heldBy(pair.target.alert, [...seen, alert]));
    for (const { source } of pairs) {
      const targets = pairs.filter((pair) => pair.source === source).flatMap((pair) => heldBy(pair.target.alert));
      expect(targets).not.toContain(source.alert);
    }
  });
});
