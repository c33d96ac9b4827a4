import { expect, test } from 'vitest';
import { acceptsGzip, chooseFormat } from '../../../src/web/negotiate.ts';

const openMetrics = 'application/openmetrics-text';

test.each([
  // As Prometheus 2 and 3 send them.
  `${openMetrics};version=1.0.0,${openMetrics};version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1`,
  `${openMetrics};version=1.0.0;escaping=allow-utf-8;q=0.6,text/plain;version=0.0.4;q=0.3,*/*;q=0.2`,
  `  ${openMetrics.toUpperCase()} ; version="1.0.0" ; q = 0.5 , text/plain ; q = 0.4`,
  `*/*,${openMetrics}`,
  `text/plain;q=0,${openMetrics};q=0.3`,
])('a scraper that prefers OpenMetrics gets it: %s', (accept) => {
  expect(chooseFormat(accept)).toBe('openmetrics');
});

test.each([
  undefined,
  '; q=,,=";",q=1;q;',
  'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8',
  'application/vnd.google.protobuf;encoding=delimited;q=0.7,text/plain;version=0.0.4;q=0.3',
  `${openMetrics};version=1.0.0;q=0`,
  `${openMetrics};version=1.0.0;q=0.2,text/plain;version=0.0.4;q=0.9`,
  `${openMetrics};version=2.0.0;q=0.9,text/plain;version=0.0.4;q=0.8`,
  `text/plain,${openMetrics}`,
])('every other client gets text: %s', (accept) => {
  expect(chooseFormat(accept)).toBe('text');
});

test('a response is compressed if the client accepts gzip, by its name or by *', () => {
  const accepting = ['gzip, deflate, br', 'br;q=1.0, gzip;q=0.001', 'x-gzip', 'deflate, *;q=0.1'];
  const others = [undefined, 'identity', 'gzip;q=0, *', 'gzip;q=yes', 'gzipped'];
  expect([...accepting, ...others].filter(acceptsGzip)).toEqual(accepting);
});
