import { describe, expect, test } from 'vitest';
import { describeConnectionError, describeTlsError } from '../../src/transport/connection-errors.ts';

describe('a name that cannot be looked up is named', () => {
  const fault = (code: string) =>
    describeConnectionError(Object.assign(new Error(`getaddrinfo ${code}`), { code, hostname: 'portal.example.com' }));

  test('when the name server does not know it', () => {
    expect(fault('ENOTFOUND')).toEqual({
      problem: 'dns',
      text: 'the host name portal.example.com is not known to the name server (ENOTFOUND)',
    });
  });

  test('when the name server does not answer', () => {
    expect(fault('EAI_AGAIN')).toMatchObject({
      text: 'the host name portal.example.com cannot be looked up (EAI_AGAIN)',
    });
  });
});

test('a fault that is not one of TLS has no words of it', () => {
  expect(describeTlsError('CERT_REVOKED', 'service')).toEqual({
    problem: 'certificate',
    text: "the service's certificate has been revoked (CERT_REVOKED)",
  });
  for (const code of ['ECONNREFUSED', 'constructor', '']) expect(describeTlsError(code, 'service')).toBeUndefined();
});
