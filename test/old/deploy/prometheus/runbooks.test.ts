import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { alertRules, recordingRules } from '../../../deploy/prometheus/groups.ts';
import { remedyOf } from '../../../deploy/prometheus/runbooks.ts';
import { explainFor } from '../../../src/contract/causes.ts';
import { sharedClientKey } from '../../../src/services/gfa/causes.ts';
import { HIDDEN_APPLIANCES, portalCauses } from '../../../src/services/portal/causes.ts';
import { root } from '../../support/program.ts';
import { errorsOf, namesIn } from '../../support/promql.ts';
import { labelsOf } from './named.ts';

const text = (path: string) => readFileSync(path, 'utf8');

describe('the runbooks', () => {
  const pages = readdirSync(join(root, 'docs/runbooks')).filter((name) => name !== 'README.md');
  const sections = pages.flatMap((page) =>
    text(join(root, 'docs/runbooks', page))
      .split(/^## /m)
      .slice(1)
      .map((section) => ({ page, alert: section.split('\n')[0] ?? '', section })),
  );

  test.each(alertRules)('$alert has one', ({ alert, page }) => {
    expect(sections.filter((one) => one.page === `${page}.md` && one.alert === alert)).toHaveLength(1);
  });

  test.each(sections)(
    '$alert says who suffers, what it means, what to check, what to do and whom to call',
    ({ section }) => {
      const parts = [...section.matchAll(/^\*\*(\w+)\.\*\*/gm)].map(([, part]) => part);
      expect(parts).toEqual(['Impact', 'Meaning', 'Check', 'Do', 'Escalate']);
    },
  );

  test.each(alertRules)('what to do about $alert is in its annotation, without Markdown', (rule) => {
    const remedy = remedyOf(rule);
    expect(remedy).toMatch(/[\w`)]\.$/);
    expect(remedy.replaceAll(/\{\{ \$labels\.\w+ \}\}/g, '')).not.toMatch(/\]\(|\*\*|\n|[{}]/);
    expect(() => remedyOf({ ...rule, alert: 'FilerNoSuchAlert' })).toThrow('FilerNoSuchAlert');
  });

  test('have no section about an alert that does not exist', () => {
    const alerts = new Set<string>(alertRules.map(({ alert }) => alert));
    expect(sections.map(({ alert }) => alert).filter((alert) => !alerts.has(alert))).toEqual([]);
  });

  test('the queries in them are PromQL over metrics that exist', () => {
    const queries = sections.flatMap(({ section }) =>
      [...section.matchAll(/^ *```promql\n([\s\S]*?)^ *```$/gm)].flatMap(([, block = '']) => block.trim().split('\n')),
    );
    expect(queries.length).toBeGreaterThan(10);
    for (const query of queries) {
      expect(errorsOf(query)).toEqual([]);
      for (const { name = '', labels } of namesIn(query).selectors) {
        expect([...labelsOf.keys()], query).toContain(name);
        if (!name.includes(':')) expect(labels.filter((label) => !labelsOf.get(name)?.includes(label))).toEqual([]);
      }
    }
  });

  test.each([
    ['FilerExporterThrottled', explainFor(portalCauses)('throttled')],
    ['FilerExporterClientKeyShared', sharedClientKey],
    ['FilerExporterClockSkew', explainFor(portalCauses)('clock')],
    ['FilerApplianceNotReporting', explainFor(portalCauses)('no_records')],
    ['FilerApplianceDown', explainFor(portalCauses)('missing', { without: undefined })],
    ['FilerInventoryIncomplete', { advice: HIDDEN_APPLIANCES }],
  ])('%s has the step that log, page and doctor have', (alert, { advice }) => {
    const rule = alertRules.find((one) => one.alert === alert);
    const remedy = rule === undefined ? '' : remedyOf(rule).replaceAll('`', '').toLowerCase();
    // What follows a semicolon or a comma may be said otherwise there.
    expect(remedy).toContain(advice.split(/[;,]/)[0]?.toLowerCase());
  });
});

test('the README says of each recording rule what it is', () => {
  const readme = text(join(root, 'deploy/prometheus/README.md'));
  const isNamed = (record: string) => {
    const [level, metric, operation] = record.split(':');
    const row = readme
      .split('\n')
      .find((line) => line.startsWith('| `') && line.includes(`:${metric}:`) && line.includes(`:${operation}\``));
    return row?.includes(`\`${level}:`) ?? false;
  };
  expect(recordingRules.filter(({ record }) => !isNamed(record))).toEqual([]);
});
