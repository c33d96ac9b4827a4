import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { alertRules } from '../../../deploy/prometheus/groups.ts';
import type { Severity } from '../../../deploy/prometheus/rule.ts';
import { alertmanagerProgram, startAlertmanager } from '../../journeys/alerting.ts';
import { root, temporaryDirectory } from '../../support/program.ts';
import { until } from '../../support/until.ts';
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

interface TakenAlert {
  readonly labels: Readonly<Record<string, string>>;
  readonly status: { readonly inhibitedBy: readonly string[] };
}

test.runIf(alertmanagerProgram !== undefined)(
  'a real Alertmanager holds back exactly those, of every two alerts there are, and nothing about another filer',
  async () => {
    const config = readFileSync(join(root, 'deploy/prometheus/alertmanager.yml'), 'utf8');
    const address = await startAlertmanager(temporaryDirectory(), config);
    /** Both alerts about one thing, that no other two are about. */
    const about = (alert: string, severity: Severity, thing: string) => ({
      labels: {
        ...Object.fromEntries(labelsOf(alert).map((label) => [label, thing])),
        alertname: alert,
        severity,
        pair: thing,
      },
    });
    const couples = alertRules.flatMap((one) =>
      alertRules.filter((other) => other !== one).map((other) => [one, other] as const),
    );
    const alerts = couples.flatMap(([one, other]) => {
      const thing = `${one.alert}/${other.alert}`;
      return [about(one.alert, one.severity, thing), about(other.alert, other.severity, thing)];
    });
    const sent = await fetch(`http://${address}/api/v2/alerts`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(alerts),
    });
    expect(sent.status).toBe(200);
    const taken = await until('Alertmanager to have judged every alert', async () => {
      const all = (await (await fetch(`http://${address}/api/v2/alerts`)).json()) as readonly TakenAlert[];
      const isDone = all.length === alerts.length && all.some(({ status }) => status.inhibitedBy.length > 0);
      return isDone ? all : undefined;
    });
    const held = taken.filter(({ status }) => status.inhibitedBy.length > 0);
    const found = held.map(({ labels }) => `${labels.alertname} of ${labels.pair}`);
    const expected = pairs.flatMap(({ source, target }) => [
      `${target.alert} of ${source.alert}/${target.alert}`,
      `${target.alert} of ${target.alert}/${source.alert}`,
    ]);
    expect(found.toSorted()).toEqual(expected.toSorted());
  },
);
