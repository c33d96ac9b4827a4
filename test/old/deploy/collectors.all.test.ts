// Only here: a collector that cannot read its snippet of deploy/prometheus/README.md.
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { blockOf } from '../journeys/pages.ts';
import { servedPort } from '../support/listening.ts';
import { works } from '../support/machine.ts';
import { root, start, temporaryDirectory } from '../support/program.ts';
import { hasPrometheus } from '../support/prometheus.ts';
import { until } from '../support/until.ts';

const page = readFileSync(join(root, 'deploy/prometheus/README.md'), 'utf8');
const section = page.split('## Other collectors')[1]?.split('\n## ')[0] ?? '';
const fenced = (language: string) => section.split(`\`\`\`${language}\n`)[1]?.split('```')[0] ?? '';

test.runIf(works('vmagent', '-version'))('vmagent scrapes the exporter with the command of the page', async () => {
  let bytes = 0;
  const receiver = createServer((request, response) => {
    request.on('data', (chunk: Buffer) => (bytes += chunk.length));
    request.on('end', () => response.writeHead(204).end());
  });
  const port = await servedPort(receiver);
  const exporter = new URL(await start(['--demo'], { environment: { LISTEN_ADDRESS: '127.0.0.1:0' } }).serving());
  const folder = temporaryDirectory();
  const config = readFileSync(join(root, 'deploy/prometheus/prometheus.yml'), 'utf8');
  writeFileSync(
    join(folder, 'prometheus.yml'),
    config.replace('localhost:9989', exporter.host).replace('scrape_interval: 60s', 'scrape_interval: 10s'),
  );
  const command = blockOf('deploy/prometheus/README.md, Other collectors, 1')
    .text.replace('deploy/prometheus/prometheus.yml', join(folder, 'prometheus.yml'))
    .replace('https://metrics.example.com', `http://127.0.0.1:${port}`);
  const queue = `-remoteWrite.tmpDataPath=${join(folder, 'queue')} -httpListenAddr=127.0.0.1:0`;
  const agent = spawn('sh', ['-c', `exec ${command.trim()} ${queue}`], { stdio: 'ignore' });
  onTestFinished(async () => {
    agent.kill('SIGKILL');
    await new Promise((resolve) => agent.once('close', resolve));
  });
  await until('the samples to arrive', () => bytes > 10_000);
});

describe('the OpenTelemetry Collector', () => {
  const { receivers, exporters, service } = parse(fenced('yaml'));

  test('has a pipeline of what it names, and keeps the names of metrics', () => {
    expect(service.pipelines.metrics).toEqual({
      receivers: Object.keys(receivers),
      exporters: Object.keys(exporters),
    });
    expect(exporters.prometheusremotewrite.add_metric_suffixes).toBe(false);
  });

  test.runIf(hasPrometheus)('has scrape jobs that Prometheus accepts', () => {
    const path = join(temporaryDirectory(), 'prometheus.yml');
    writeFileSync(path, stringify(receivers.prometheus.config));
    expect(spawnSync('promtool', ['check', 'config', path], { encoding: 'utf8' })).toMatchObject({ status: 0 });
  });
});

test('the components of Grafana Alloy lead to each other', () => {
  const text = fenced('alloy');
  const named = [...text.matchAll(/^([\w.]+) "(\w+)" \{$/gm)].map(([, component, label]) => `${component}.${label}`);
  expect(named).toEqual(['prometheus.scrape.exporter', 'prometheus.remote_write.metrics']);
  expect(text).toContain(`forward_to      = [${named[1]}.receiver]`);
});
