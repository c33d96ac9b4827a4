// Only here: a Prometheus whose settings and ours do not meet.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { temporaryDirectory } from '../support/program.ts';
import { hasPrometheus, startPrometheus } from '../support/prometheus.ts';
import { until } from '../support/until.ts';
import { GEHEIM, guarded } from './asking.ts';
import { hasTlsClients, makePair } from './certificates.ts';

/** A real Prometheus with the scrape settings that match a web configuration, and one that lacks the password. */
describe.runIf(hasPrometheus && hasTlsClients)('Prometheus', () => {
  test('scrapes over TLS with its client certificate and password, and is kept out without the password', async () => {
    const folder = temporaryDirectory();
    const authority = makePair(folder, 'authority', { authority: true });
    makePair(folder, 'server', { names: 'DNS:localhost,IP:127.0.0.1', by: authority });
    const client = makePair(folder, 'client', { names: 'DNS:prometheus', by: authority });
    const { address } = await guarded(
      `tls_server_config:
  cert_file: server.crt
  key_file: server.key
  client_auth_type: RequireAndVerifyClientCert
  client_ca_file: authority.crt
  client_allowed_sans: [prometheus]
basic_auth_users:
  prometheus: ${GEHEIM}
`,
      folder,
    );
    const password = join(folder, 'password');
    writeFileSync(password, 'geheim');
    const tls = `    tls_config: { ca_file: ${authority.cert}, cert_file: ${client.cert}, key_file: ${client.key} }\n`;
    const who = `    basic_auth: { username: prometheus, password_file: ${password} }\n`;
    const prometheus = await startPrometheus(
      folder,
      { let_in: address, without_password: address, without_certificate: address },
      {
        let_in: `    scheme: https\n${tls}${who}`,
        without_password: `    scheme: https\n${tls}`,
        without_certificate: `    scheme: https\n    tls_config: { ca_file: ${authority.cert} }\n${who}`,
      },
    );
    onTestFinished(async () => {
      prometheus.child.kill('SIGKILL');
      await new Promise((resolve) => prometheus.child.once('close', resolve));
    });
    await until('every target to have been scraped', async () => {
      const targets = await prometheus.targets();
      return targets.length === 3 && targets.every(({ health }) => health !== 'unknown');
    });
    // The first check of a password may last longer than a scrape may.
    const up = await until('the first to be let in', async () => {
      const results = await prometheus.query('up');
      const ups = Object.fromEntries(results.map(({ metric, value }) => [metric.job, value[1]]));
      return ups.let_in === '1' && ups;
    });
    expect(up).toEqual({ let_in: '1', without_password: '0', without_certificate: '0' });
    const errors = (await prometheus.targets()).map(({ lastError }) => lastError).filter(Boolean);
    expect(errors.some((error) => error.includes('401'))).toBe(true);
    expect(errors.some((error) => error.includes('certificate required'))).toBe(true);
    const [expiry] = await prometheus.query('filer_exporter_web_certificate_expiry_timestamp_seconds - time()');
    expect(Number(expiry?.value[1])).toBeGreaterThan(86_400);
  });
});
