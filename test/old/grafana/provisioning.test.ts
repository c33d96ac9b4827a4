import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { root } from '../support/program.ts';

const folder = join(root, 'grafana', 'provisioning');

interface Provider {
  readonly name: string;
  readonly type: string;
  readonly options: { readonly path: string };
}

interface Source {
  readonly name: string;
  readonly type: string;
  readonly isDefault: boolean;
  readonly jsonData: { readonly timeInterval: string };
}

describe('the provisioning files', () => {
  test('name a default data source of the type that the dashboards ask for', () => {
    const { apiVersion, datasources } = read<{ apiVersion: number; datasources: readonly Source[] }>(
      'datasources/prometheus.yaml',
    );
    expect(apiVersion).toBe(1);
    expect(datasources).toMatchObject([{ type: 'prometheus', access: 'proxy', isDefault: true }]);
  });

  test('give the scrape interval of the example job, from which rates are worked out', () => {
    const { datasources } = read<{ datasources: readonly Source[] }>('datasources/prometheus.yaml');
    const interval = /scrape_interval: (\S+)/.exec(
      readFileSync(join(root, 'deploy/prometheus/scrape-jobs.yml'), 'utf8'),
    )?.[1];
    expect(datasources[0]?.jsonData.timeInterval).toBe(interval);
  });

  test('name the folder that grafana/README.md mounts the dashboards at', () => {
    const { apiVersion, providers } = read<{ apiVersion: number; providers: readonly Provider[] }>(
      'dashboards/filer-exporter.yaml',
    );
    expect(apiVersion).toBe(1);
    expect(providers).toMatchObject([
      { type: 'file', options: { path: '/var/lib/grafana/dashboards/filer-exporter' } },
    ]);
    const readme = readFileSync(join(root, 'grafana', 'README.md'), 'utf8');
    expect(readme).toContain(`grafana/dashboards:${providers[0]?.options.path}:ro`);
    for (const [, path = ''] of readme.matchAll(/\$PWD\/([\w/.-]+):/g))
      expect(existsSync(join(root, path)), path).toBe(true);
  });
});

function read<Content>(path: string): Content {
  return parse(readFileSync(join(folder, path), 'utf8')) as Content;
}
