// Only here: a client that gets a format or a packing that it cannot read.
import { describe, expect, test } from 'vitest';
import { acceptsGzip, chooseFormat } from '../../src/http/negotiate.ts';
import fc from '../support/fast-check.ts';

const om = 'application/openmetrics-text';

describe('OpenMetrics is what is sent to who wants it', () => {
  test.each([
    [`${om};version=1.0.0,${om};version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1`],
    [
      `${om};version=1.0.0;escaping=allow-utf-8;q=0.6,${om};version=0.0.1;q=0.5,text/plain;version=1.0.0;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2`,
    ],
    [`${om}; version=1.0.0; charset=utf-8`],
    [`${om};version="1.0.0"`],
    [om],
    [om.toUpperCase()],
    [`  ${om} ; q = 0.5 , text/plain ; q = 0.4`],
    [`${om};q=0.001`],
    [`${om},text/plain`],
    [`${om};version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.5`],
    [`*/*,${om}`],
    [`text/plain;q=0.2,${om};q=0.3`],
    [`text/plain;q=0,${om};q=0.3`],
    [`${om};version=1.0.0; escaping=values;`],
    [`text/plain;version=1.0.0;q=0.6,${om};version=1.0.0;q=0.5`],
  ])('%s', (accept) => {
    expect(chooseFormat(accept)).toBe('openmetrics');
  });
});

describe('text is what everybody else gets', () => {
  test.each([
    [undefined],
    [''],
    ['*/*'],
    ['*/*;q=0'],
    ['application/*'],
    ['text/*'],
    ['text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8'],
    ['text/plain;version=0.0.4;q=1,*/*;q=0.1'],
    [
      'application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0.7,text/plain;version=0.0.4;q=0.3',
    ],
    [`${om};version=1.0.0;q=0`],
    [`${om};version=1.0.0;q=0.2,text/plain;version=0.0.4;q=0.9`],
    [`${om};version=0.0.1`],
    [`${om};version=2.0.0`],
    [`${om};version=2.0.0;q=0.9,text/plain;version=0.0.4;q=0.8`],
    [`${om};version=0.0.1; escaping=underscores`],
    ['text/plain;version=0.0.4; escaping=allow-utf-8'],
    [`text/plain,${om}`],
    [`text/plain;version=0.0.4;q=0.5,${om};version=1.0.0;q=0.5`],
    [`${om};q=two,text/plain;q=0.1`],
    [`${om};q=1.5`],
    [`${om};q=-1`],
    [`${om};q=`],
    ['application/openmetrics'],
    ['application/json'],
    [',,;;==,'],
    [';q=1'],
    ['\u0000\ud800'],
  ])('%s', (accept) => {
    expect(chooseFormat(accept)).toBe('text');
  });
});

describe('gzip', () => {
  test.each([
    ['gzip', true],
    ['gzip, deflate, br', true],
    ['br;q=1.0, gzip;q=0.001', true],
    ['GZip', true],
    ['x-gzip', true],
    ['*', true],
    ['deflate, *;q=0.1', true],
    [undefined, false],
    ['', false],
    ['identity', false],
    ['deflate, br', false],
    ['gzip;q=0', false],
    ['gzip;q=0.000', false],
    ['gzip;q=0, *', false],
    ['*;q=0', false],
    ['identity, *;q=0', false],
    ['gzip;q=yes', false],
    ['gzipped', false],
  ])('%s: %s', (header, accepted) => {
    expect(acceptsGzip(header)).toBe(accepted);
  });
});

test('whatever a client says, it gets one of the two formats, packed or not', () => {
  const words = [om, 'text/plain', '*/*', 'text/*', 'q', 'version', '0', '1', '0.5', 'gzip'];
  const piece = fc.constantFrom(...words, ...[';', ',', '=', '"', ' ']);
  const header = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join('')),
  );
  fc.assert(
    fc.property(header, (text) => {
      expect(['text', 'openmetrics']).toContain(chooseFormat(text));
      expect(typeof acceptsGzip(text)).toBe('boolean');
      // Who does not name it does not get it.
      if (!text.toLowerCase().includes(om)) expect(chooseFormat(text)).toBe('text');
    }),
    { numRuns: 1_000 },
  );
});
