// Only here: a request of the process that goes past the proxy, or through it where it must not.
import { describe, expect, test } from 'vitest';
import { runHere } from '../support/command.ts';
import { startEcho } from '../support/echo.ts';
import { realServices } from '../support/real-services.ts';

describe('a service on this machine', () => {
  test.each(['127.0.0.1', 'localhost'])(
    'at %s is asked without the proxy, which would see its token in the clear',
    async (host) => {
      const { mocks, environment } = await realServices({ appliances: 1 });
      const { origin, received } = await startEcho(undefined);
      const { code, stdout } = await runHere(['--once'], {
        environment: {
          ...environment,
          GFA_URL: mocks.gfaUrl.replace('127.0.0.1', host),
          PORTAL_URL: mocks.portalUrl.replace('127.0.0.1', host),
          HTTP_PROXY: origin,
          HTTPS_PROXY: origin,
        },
      });
      expect(received).toEqual([]);
      expect(code).toBe(0);
      expect(stdout).toContain('filer_api_up{api="gfa"} 1');
      expect(stdout).toContain('filer_api_up{api="portal"} 1');
    },
  );
});

describe('a service beyond it', () => {
  const beyond = { ALLOW_INSECURE_UPSTREAM: 'true', GFA_URL: 'http://gfa.example.invalid/v1', GFA_TOKEN: 'token' };

  test('is asked through the proxy, which gets the user name also without a password', async () => {
    const { origin, received } = await startEcho(undefined);
    const HTTP_PROXY = origin.replace('http://', 'http://visitor@');
    const { code } = await runHere(['--once'], { environment: { ...beyond, HTTP_PROXY } });
    expect(code).toBe(1);
    const [headers = '{}'] = received;
    expect(JSON.parse(headers)).toMatchObject({
      host: 'gfa.example.invalid',
      'proxy-authorization': `Basic ${Buffer.from('visitor:').toString('base64')}`,
    });
  });
});
