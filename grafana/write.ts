import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse, stringify } from 'yaml';
import { boards } from './src/boards.ts';
import { build } from './src/kit.ts';

/*
 * `npm run boards` writes the boards as Grafana imports them, the alerts as the Prometheus operator takes them, and the
 * copies of both in the chart, because Helm reads nothing outside of the folder of a chart.
 */

const root = fileURLToPath(new URL('..', import.meta.url));
const chartFiles = `${root}deploy/helm/filer-exporter/files`;
const rules = `${root}deploy/prometheus/filer-exporter.rules.yml`;

mkdirSync(`${chartFiles}/dashboards`, { recursive: true });
mkdirSync(`${root}grafana/dashboards`, { recursive: true });

for (const board of boards) {
  const file = `${root}grafana/dashboards/${board.uid}.json`;
  writeFileSync(file, `${JSON.stringify(build(board), null, 1)}\n`);
  copyFileSync(file, `${chartFiles}/dashboards/${board.uid}.json`);
}

copyFileSync(rules, `${chartFiles}/filer-exporter.rules.yml`);
const name = 'filer-exporter';
const resource = {
  apiVersion: 'monitoring.coreos.com/v1',
  kind: 'PrometheusRule',
  metadata: { name, labels: { 'app.kubernetes.io/name': name } },
  spec: parse(readFileSync(rules, 'utf8')),
};
writeFileSync(
  `${root}deploy/prometheus/filer-exporter.prometheusrule.yml`,
  `# Written by \`npm run boards\` from filer-exporter.rules.yml.\n${stringify(resource, { lineWidth: 0 })}`,
);
