import { stringify } from 'yaml';
import { type Choices, render } from './render.ts';
import { template, type WrittenGroup } from './template.ts';
import { thresholds } from './thresholds.ts';

/** The rules in the format of Prometheus. */
export function rulesFile(choices: Choices = {}, of: readonly WrittenGroup[] = template): string {
  return yaml('Written by `npm run rules`: see deploy/prometheus/README.md.', { groups: render(of, choices) });
}

/** The same rules as a custom resource of the Prometheus operator. */
export function prometheusRuleFile(choices: Choices = {}): string {
  const name = 'filer-exporter';
  return yaml('Written by `npm run rules -- --operator`: see deploy/prometheus/README.md.', {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'PrometheusRule',
    metadata: { name, labels: { 'app.kubernetes.io/name': name } },
    spec: { groups: render(template, choices) },
  });
}

/** The rules for the chart, which inserts the numbers: every `<name>` is a threshold. */
export function chartRulesFile(): string {
  return yaml('Written by `npm run docs` from deploy/prometheus. The chart replaces what is in angle brackets.', {
    thresholds,
    groups: template,
  });
}

function yaml(comment: string, content: object): string {
  return `# ${comment}\n${stringify(content, { lineWidth: 0 })}`;
}
