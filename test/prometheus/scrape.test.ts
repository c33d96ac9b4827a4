import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { certificatePath } from '../harness/certificates.ts';
import { startPrometheus } from '../harness/prometheus.ts';
import { spawnExporter } from '../harness/spawn-exporter.ts';
import { temporaryDirectory } from '../harness/temporary-directory.ts';
import { hasTool } from '../harness/tools.ts';
import { until } from '../harness/until.ts';

/** A bcrypt hash of `geheim`. */
const HASH = '$2y$04$u5WNi2lYZIEEOYL/Sl9Ny.TlR2KlYwhu6qm.FHqnBvPinc9tALXS.';

interface Target {
  readonly scrapePool: string;
  readonly health: string;
  readonly lastError: string;
}

describe.runIf(hasTool('prometheus'))('Prometheus', () => {
  test('scrapes over TLS with its certificate and password, and gets nothing without one of them', async () => {
    const folder = temporaryDirectory();
    const [ca, cert, key] = ['authority.crt', 'client.crt', 'client.key'].map(certificatePath);
    const web = `tls_server_config:
  cert_file: ${certificatePath('server.crt')}
  key_file: ${certificatePath('server.key')}
  client_auth_type: RequireAndVerifyClientCert
  client_ca_file: ${ca}
  client_allowed_sans: [prometheus]
basic_auth_users:
  prometheus: ${HASH}
`;
    writeFileSync(join(folder, 'web.yml'), web, { mode: 0o600 });
    const environment = { GFA_URL: 'http://127.0.0.1:9/v1', GFA_TOKEN: 'x', WEB_CONFIG_FILE: 'web.yml' };
    const exporter = spawnExporter([], environment, folder);
    const target = new URL(await exporter.serving()).host;
    const password = 'basic_auth: { username: prometheus, password: geheim }';
    const job = (name: string, ...settings: readonly string[]) =>
      [`  - job_name: ${name}`, 'scheme: https', `static_configs: [{ targets: ["${target}"] }]`, ...settings].join(
        '\n    ',
      );
    const certificate = `tls_config: { ca_file: ${ca}, cert_file: ${cert}, key_file: ${key} }`;
    const jobs = [
      job('both', certificate, password),
      job('no_password', certificate),
      job('no_certificate', `tls_config: { ca_file: ${ca} }`, password),
    ];
    writeFileSync(
      join(folder, 'prometheus.yml'),
      `global: { scrape_interval: 1s }\nscrape_configs:\n${jobs.join('\n')}\n`,
    );
    const prometheus = await startPrometheus(folder);
    const targets = await until('each job to have scraped', async () => {
      const { activeTargets } = (await prometheus.get('targets')) as { readonly activeTargets: readonly Target[] };
      const isKnown = ({ scrapePool, health }: Target) => health === (scrapePool === 'both' ? 'up' : 'down');
      return activeTargets.length === 3 && activeTargets.every(isKnown) && activeTargets;
    });
    const errors = Object.fromEntries(targets.map(({ scrapePool, lastError }) => [scrapePool, lastError]));
    expect(errors.both).toBe('');
    expect(errors.no_password).toContain('401');
    expect(errors.no_certificate).toMatch(/certificate required|bad certificate|handshake failure/);
  });
});
