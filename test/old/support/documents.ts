import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { chartRulesFile, prometheusRuleFile, rulesFile } from '../../deploy/prometheus/files.ts';
import { alertRules } from '../../deploy/prometheus/groups.ts';
import { thresholdNames, thresholdRows } from '../../deploy/prometheus/thresholds.ts';
import { shippedDashboards, textOf } from '../../grafana/src/dashboards.ts';
import { type CauseName, explainFor } from '../../src/contract/causes.ts';
import type { Questions } from '../../src/doctor/service-check.ts';
import { ERROR_POLICIES } from '../../src/runtime/error-table.ts';
import { getOrCreate } from '../../src/runtime/maps.ts';
import { gfaQuestions } from '../../src/services/gfa/doctor/questions.ts';
import { portalQuestions } from '../../src/services/portal/doctor/questions.ts';
import { services } from '../../src/services/services.ts';
import { chartReadme, valuesSchema } from '../deploy/chart-files.ts';
import { inhibitionTable } from '../deploy/prometheus/inhibition.ts';
import { roundsTable } from '../simulation/rounds.ts';
import { coveragePage } from './coverage.ts';
import { root } from './program.ts';
import { configurationPage, metricsReference, withPart } from './reference.ts';

/** A file that is written from the code, whole or in part. */
export interface Document {
  /** Below the top of the repository. */
  readonly path: string;
  /** What the file should hold, made from the code and from what it holds now. */
  readonly text: () => string;
}

const questions: Questions = { ...gfaQuestions, ...portalQuestions };

/** Every generated file that takes no measuring. */
export const documents: readonly Document[] = [
  part('docs/configuration.md', configurationPage),
  { path: 'docs/metrics.md', text: metricsReference },
  part('docs/coverage.md', coveragePage),
  part('docs/limits.md', (page) => withPart(page, 'collectors', roundsTable())),
  part('docs/input.md', (page) => withPart(page, 'statuses', statuses())),
  part('docs/doctor.md', (page) => page.replaceAll(/^(\| `(\w+)` \| [^|\n]*\| )[^|\n]*\|$/gm, withEffects)),
  part('docs/runbooks/README.md', (page) => withPart(page, 'alerts', alerts())),
  // Dashboards and rules quote the runbooks.
  part('docs/runbooks/exporter.md', (page) => withPart(page, 'causes', causes())),
  ...boards('grafana/dashboards'),
  { path: 'deploy/prometheus/filer-exporter.rules.yml', text: () => rulesFile() },
  { path: 'deploy/prometheus/filer-exporter.prometheusrule.yml', text: () => prometheusRuleFile() },
  part('deploy/prometheus/README.md', (page) =>
    withPart(withPart(page, 'thresholds', thresholds()), 'inhibition', `${inhibitionTable()}\n`),
  ),
  { path: 'deploy/helm/filer-exporter/README.md', text: chartReadme },
  { path: 'deploy/helm/filer-exporter/values.schema.json', text: valuesSchema },
  // Helm reads nothing outside of the folder of the chart.
  { path: 'deploy/helm/filer-exporter/files/rules.yml', text: chartRulesFile },
  ...boards('deploy/helm/filer-exporter/files/dashboards'),
];

function part(path: string, made: (page: string) => string): Document {
  return { path, text: () => made(readFileSync(join(root, path), 'utf8')) };
}

function boards(folder: string): readonly Document[] {
  return shippedDashboards().map((dashboard) => ({
    path: `${folder}/${dashboard.uid}.json`,
    text: () => textOf(dashboard),
  }));
}

function thresholds(): string {
  const rows = thresholdNames.map((name) => {
    const { value, meaning } = thresholdRows[name];
    return `| \`${name}\` | ${value} | ${meaning} |\n`;
  });
  return `| threshold | shipped | meaning |\n|---|---|---|\n${rows.join('')}`;
}

function alerts(): string {
  const rows = alertRules.map(({ alert, page, severity, for: lasting }) => {
    return `| [${alert}](${page}.md#${alert.toLowerCase()}) | ${severity} | ${lasting} |\n`;
  });
  return `| alert | severity | for |\n|---|---|---|\n${rows.join('')}\n`;
}

/** The row of an open question with what follows from each answer. Answers with one effect stand together. */
function withEffects(row: string, beginning: string, question: string): string {
  const answers = questions[question];
  if (answers === undefined) return row;
  const effects = new Map<string, string[]>();
  for (const [answer, effect] of Object.entries(answers)) getOrCreate(effects, effect, () => []).push(`\`${answer}\``);
  return `${beginning}${[...effects].map(([effect, same]) => `${same.join(', ')}: ${effect}`).join('<br>')} |`;
}

/** The causes that the metric shows as one reason, in addition to the cause of that name. */
const CAUSES_OF: Readonly<Partial<Record<CauseName, readonly CauseName[]>>> = {
  oversize: ['memory', 'long_list'],
  network: ['dns', 'authority', 'certificate', 'tls', 'proxy', 'proxy_credentials'],
  invalid: ['page'],
};

/** A row for each cause of a reason in `filer_api_down_info`, in the words of the log, the page and the doctor. */
function causes(): string {
  const names = { url: 'GFA_URL or PORTAL_URL', credentials: 'the token or the key', rate: 'lower PORTAL_RATE_LIMIT' };
  const reasons = [...new Set(ERROR_POLICIES.map(({ reason }) => reason)), 'overdue'] as const;
  const row = (reason: string, cause: CauseName) => {
    const { happened, advice } = explainFor({ names })(cause);
    const own = services
      .filter(({ causes: { advice: ownAdvice } }) => ownAdvice?.[cause] !== undefined)
      .map((service) => `${service.title}: ${explainFor(service.causes)(cause).advice}`);
    const steps = own.length === services.length ? own : [advice, ...own];
    return `| \`${reason}\` | ${happened} | ${steps.join('<br>')} |\n`;
  };
  const rows = reasons.flatMap((reason) => [reason, ...(CAUSES_OF[reason] ?? [])].map((cause) => row(reason, cause)));
  return `| reason | what happened | what to do |\n|---|---|---|\n${rows.join('')}`;
}

const KINDS = { read: 'lists', series: 'series', events: '`/data`', token: 'tokens' } as const;

/** A row for each status and kind of request, in the order in which the program looks. */
function statuses(): string {
  const rows = ERROR_POLICIES.map(({ codes, of, reason, retries = 0, action }, index) => {
    const isElsewhere = ERROR_POLICIES.slice(0, index).some((before) =>
      before.codes.some((code) => codes.includes(code)),
    );
    const kinds = of?.map((kind) => KINDS[kind]).join(', ') ?? (isElsewhere ? 'others' : 'all');
    return `| ${codes.join(', ').replace(/^(.xx)$/, 'other $1')} | ${kinds} | \`${reason}\` | ${retries} | ${action} |\n`;
  });
  return `| response | request | reason | sent again | then |\n|---|---|---|---|---|\n${rows.join('')}`;
}
