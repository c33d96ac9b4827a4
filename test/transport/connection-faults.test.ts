import { describe, expect, test } from 'vitest';
import { connectionFault } from '../../src/transport/connection-faults.ts';

describe('a name that cannot be looked up is named', () => {
  const fault = (code: string) =>
    connectionFault(Object.assign(new Error(`getaddrinfo ${code}`), { code, hostname: 'portal.example.com' }));

  test('when the name server does not know it', () => {
    expect(fault('ENOTFOUND')).toBe('the host name portal.example.com is not known to the name server (ENOTFOUND)');
  });

  test('when the name server does not answer', () => {
    expect(fault('EAI_AGAIN')).toBe('the host name portal.example.com cannot be looked up (EAI_AGAIN)');
  });
});
