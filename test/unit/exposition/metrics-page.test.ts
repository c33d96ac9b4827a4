import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { ExporterMetrics } from '../../../src/exposition/exporter/metrics.ts';
import type { Format } from '../../../src/exposition/format.ts';
import { MetricsPage } from '../../../src/exposition/metrics-page.ts';
import { LineStore } from '../../../src/exposition/store.ts';
import { Scrape } from '../../harness/scrape.ts';

const build = { version: '1.2.3', revision: 'abc', node_version: 'v20' };

function page(review: (store: LineStore) => void = () => {}) {
  const store = new LineStore([{ name: 'filer_a', help: 'A.', type: 'gauge' }]);
  const own = new ExporterMetrics(build, ['gfa']);
  const status = () => ({ apis: [], own: new Map() });
  return { store, own, page: new MetricsPage({ exposition: store, own, status, review: () => review(store) }) };
}

test('stale values are withdrawn, the data of the services comes first, then the metrics about the exporter', async () => {
  const { store, page: metrics } = page((of) => of.withdraw('stale'));
  await store.accept('t', [{ name: 'filer_a', labels: {}, value: 5 }]);
  await store.accept('stale', [{ name: 'filer_a', labels: { of: 'x' }, value: 6 }]);
  const text = (await metrics.render('text')).toString();
  expect(text).toMatch(/^# HELP filer_a A\.\n# TYPE filer_a gauge\nfiler_a 5\n# HELP filer_exporter_build_info /);
  const scrape = new Scrape(text);
  expect(scrape.value('filer_exporter_build_info', build)).toBe(1);
  expect(scrape.value('filer_exporter_samples')).toBe(1);
});

test('a compressed page is the plain page, and scrapes at the same time share it', async () => {
  const { store, page: metrics } = page();
  await store.accept('t', [{ name: 'filer_a', labels: {}, value: 5 }]);
  const [one, other] = await Promise.all([metrics.body('text', true), metrics.body('text', true)]);
  expect(one).toBe(other);
  const text = gunzipSync(Buffer.concat([...one.buffers()])).toString();
  expect(new Scrape(text).value('filer_a')).toBe(5);
  expect(await metrics.body('text', true)).not.toBe(one);
});

test('requests and drops are counted, from zero, with _total in text alone, and # EOF at the end of OpenMetrics alone', async () => {
  const { own, page: metrics } = page();
  own.recordRequest('gfa', { operation: 'data', code: '429', seconds: 0.3 });
  own.dropped('gfa', 'invalid', 3);
  own.dropped('gfa', 'label', 2);
  const read = async (format: Format) => new Scrape((await metrics.render(format)).toString());
  const text = await read('text');
  expect(text.value('filer_exporter_requests_total', { api: 'gfa', operation: 'data', code: '429' })).toBe(1);
  expect(text.value('filer_exporter_request_duration_seconds_bucket', { le: '0.25' })).toBe(0);
  expect(text.value('filer_exporter_request_duration_seconds_bucket', { le: '0.5' })).toBe(1);
  expect(text.value('filer_exporter_request_duration_seconds_bucket', { le: '10.0' })).toBe(1);
  expect(text.value('filer_exporter_samples_dropped_total', { reason: 'invalid' })).toBe(3);
  expect(text.value('filer_exporter_samples_dropped_total', { reason: 'late' })).toBe(0);
  expect(text.value('filer_exporter_labels_shortened_total', { api: 'gfa' })).toBe(2);
  expect(text.text).not.toContain('# EOF');
  const openMetrics = await read('openmetrics');
  expect(openMetrics.types.get('filer_exporter_requests')).toBe('counter');
  expect(openMetrics.text).toMatch(/\n# EOF\n$/);
  // Once more in text: a registry of prom-client would now write the names of OpenMetrics.
  expect((await read('text')).types.get('filer_exporter_requests_total')).toBe('counter');
});
