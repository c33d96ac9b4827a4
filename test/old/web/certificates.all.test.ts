// Only here: names and addresses of a certificate that openssl writes and the program reads in another way.
import { describe, expect, test } from 'vitest';
import { alternativeNames, certificatesIn, privateKeyIn, shortAddress } from '../../src/web/certificates.ts';
import { temporaryDirectory } from '../support/program.ts';
import { hasTlsClients, makePair } from './certificates.ts';

describe.runIf(hasTlsClients)('the alternative names of a certificate', () => {
  test('are all there, whatever kind and however they are written', () => {
    const names = 'DNS:a.example.com,email:me@example.com,URI:https://x/y,IP:10.0.0.1,IP:fe80::1';
    const [certificate] = certificatesIn(makePair(temporaryDirectory(), 'one', { names }).certText);
    expect(certificate && alternativeNames(certificate)).toEqual([
      ...['a.example.com', 'me@example.com', 'https://x/y', '10.0.0.1', 'fe80::1'],
    ]);
  });

  test('cannot be made of one another: a name that looks like two is one', () => {
    const text = { subjectAltName: 'URI:"https://x/, DNS:prometheus", DNS:other' };
    expect(alternativeNames(text as never)).toEqual(['https://x/, DNS:prometheus', 'other']);
  });

  test('are none where it has none', () => {
    const [certificate] = certificatesIn(makePair(temporaryDirectory(), 'one').certText);
    expect(certificate && alternativeNames(certificate)).toEqual([]);
  });
});

test.each([
  ['::1', '::1'],
  ['0:0:0:0:0:0:0:1', '::1'],
  ['FE80::0:1', 'fe80::1'],
  ['10.0.0.1', '10.0.0.1'],
  ['prometheus', 'prometheus'],
])('the address %s is written %s', (address, short) => {
  expect(shortAddress(address)).toBe(short);
});

test('a text that is not PEM is reported without a quote of it', () => {
  expect(() => certificatesIn('canary')).toThrow(/^contains no certificate/);
  expect(() => certificatesIn('-----BEGIN CERTIFICATE-----\ncanary\n-----END CERTIFICATE-----')).toThrow(
    'contains an unreadable certificate; expected PEM',
  );
  expect(() => privateKeyIn('canary')).toThrow(/^contains no private key/);
  expect(() => privateKeyIn('-----BEGIN ENCRYPTED PRIVATE KEY-----')).toThrow(/encrypted with a passphrase/);
});
