import { expect, test } from 'vitest';
import { acceptsGzip, chooseFormat } from '../../../src/web/negotiate.ts';
import fc from '../../harness/fast-check.ts';

const openMetrics = 'application/openmetrics-text';

test.each([
  // As Prometheus 2 and 3 send them.
  `${openMetrics};version=1.0.0,${openMetrics};version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1`,
  `${openMetrics};version=1.0.0;escaping=allow-utf-8;q=0.6,${openMetrics};version=0.0.1;q=0.5,text/plain;version=1.0.0;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2`,
  `${openMetrics};version="1.0.0"`,
  openMetrics.toUpperCase(),
  `  ${openMetrics} ; q = 0.5 , text/plain ; q = 0.4`,
  `${openMetrics},text/plain`,
  `*/*,${openMetrics}`,
  `text/plain;q=0,${openMetrics};q=0.3`,
])('a scraper that prefers OpenMetrics gets it: %s', (accept) => {
  expect(chooseFormat(accept)).toBe('openmetrics');
});

test.each([
  undefined,
  '',
  '*/*',
  'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8',
  'application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0.7,text/plain;version=0.0.4;q=0.3',
  `${openMetrics};version=1.0.0;q=0`,
  `${openMetrics};version=1.0.0;q=0.2,text/plain;version=0.0.4;q=0.9`,
  `${openMetrics};version=2.0.0;q=0.9,text/plain;version=0.0.4;q=0.8`,
  `text/plain,${openMetrics}`,
  `${openMetrics};q=1.5`,
  ',,;;==,',
])('every other client gets text: %s', (accept) => {
  expect(chooseFormat(accept)).toBe('text');
});

test.each([
  ['gzip, deflate, br', true],
  ['br;q=1.0, gzip;q=0.001', true],
  ['x-gzip', true],
  ['deflate, *;q=0.1', true],
  [undefined, false],
  ['identity', false],
  ['gzip;q=0, *', false],
  ['gzip;q=yes', false],
  ['gzipped', false],
])('Accept-Encoding %s accepts gzip: %s', (header, isAccepted) => {
  expect(acceptsGzip(header)).toBe(isAccepted);
});

test('whatever a client sends, it gets one of the two formats, and OpenMetrics only if it names it', () => {
  const words = [openMetrics, 'text/plain', '*/*', 'q', 'version', '0', '1', '0.5', ';', ',', '=', '"', ' '];
  const pieces = fc.array(fc.constantFrom(...words), { maxLength: 30 }).map((drawn) => drawn.join(''));
  fc.assert(
    fc.property(fc.oneof(pieces, fc.string({ unit: 'binary-ascii' })), (header) => {
      expect(['text', 'openmetrics']).toContain(chooseFormat(header));
      expect(typeof acceptsGzip(header)).toBe('boolean');
      if (!header.toLowerCase().includes(openMetrics)) expect(chooseFormat(header)).toBe('text');
    }),
    { numRuns: 200 },
  );
});
