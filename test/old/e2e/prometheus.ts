import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { root } from '../support/program.ts';
import { type Prometheus, runPrometheus } from '../support/prometheus.ts';

const shipped = join(root, 'deploy', 'prometheus');

interface Configuration {
  readonly rule_files: readonly string[];
  readonly scrape_configs: readonly { readonly job_name: string }[];
}

/** An account with the same filers and volumes, whose metrics two exporters have: one those of volumes and of file acceleration. */
export const SECOND = 'second-account';

function secondAccount(target: string) {
  const isShared = '(?:filer_exporter_|filer_api_|process_|nodejs_).*;.*;.*';
  const isOfVolumes = 'filer_gfa_.*;.*;.*|.*;.+;.*|.*;.*;.+';
  const exporter = (instance: string, ...rules: readonly object[]) => ({
    job_name: `${SECOND} ${instance}`,
    scrape_interval: '5s',
    scrape_timeout: '5s',
    static_configs: [{ targets: [target], labels: { job: SECOND, instance } }],
    metric_relabel_configs: rules.map((rule) => ({
      source_labels: ['__name__', 'volume_guid', 'filer_guid'],
      ...rule,
    })),
  });
  return [
    exporter('volumes', { regex: `${isShared}|${isOfVolumes}`, action: 'keep' }),
    exporter('appliances', { regex: isOfVolumes, action: 'drop' }),
  ];
}

/**
 * Starts a Prometheus with the scrape job and the rules that are shipped. Two things are others: the target's address, and
 * how often, for minutes have to fit into seconds, of two accounts into more of them; where alerts are asked for, they do
 * not wait either. There is no Alertmanager to send to.
 */
export function startShipped(
  directory: string,
  target: string,
  { alerts = 'wait', accounts = 1 }: { readonly alerts?: 'wait' | 'at once'; readonly accounts?: 1 | 2 } = {},
): Promise<Prometheus> {
  const often = accounts === 2 ? '5s' : '2s';
  const configuration = parse(readFileSync(join(shipped, 'prometheus.yml'), 'utf8')) as Configuration;
  for (const file of configuration.rule_files) {
    const rules = readFileSync(join(shipped, file), 'utf8').replaceAll(/^( +interval): .+$/gm, `$1: ${often}`);
    writeFileSync(join(directory, file), alerts === 'wait' ? rules : rules.replaceAll(/^( +for): .+$/gm, '$1: 0s'));
  }
  const quick = {
    ...configuration,
    global: { scrape_interval: often, scrape_timeout: often, evaluation_interval: often },
    alerting: {},
    scrape_configs: [
      ...configuration.scrape_configs.map((job) => ({ ...job, static_configs: [{ targets: [target] }] })),
      ...(accounts === 2 ? secondAccount(target) : []),
    ],
  };
  return runPrometheus(directory, stringify(quick), '--web.enable-remote-write-receiver');
}
