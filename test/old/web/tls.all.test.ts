// Only here: what curl and openssl are given behind TLS.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { curl, GEHEIM, guarded, guardedHere, ran } from './asking.ts';
import { hasTlsClients, makePair, type Pair } from './certificates.ts';

/* Skipped without curl and openssl, unless REQUIRE_TLS_CLIENTS is set. */

test.runIf(Boolean(process.env.REQUIRE_TLS_CLIENTS))('openssl and curl are installed', () => {
  expect(hasTlsClients).toBe(true);
});

describe.runIf(hasTlsClients)('with TLS', () => {
  let folder: string;
  let authority: Pair;
  let server: Pair;
  let client: Pair;
  let stranger: Pair;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'filer-exporter-tls-'));
    authority = makePair(folder, 'authority', { authority: true });
    server = makePair(folder, 'server', { names: 'DNS:localhost,IP:127.0.0.1', by: authority });
    client = makePair(folder, 'client', {
      names: 'DNS:prometheus,IP:::1,URI:spiffe://a/b,email:me@example.com',
      by: authority,
    });
    stranger = makePair(folder, 'stranger', { names: 'DNS:prometheus' });
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const tls = (...lines: readonly string[]) =>
    ['tls_server_config:', '  cert_file: server.crt', '  key_file: server.key', ...lines.map((line) => `  ${line}`)]
      .join('\n')
      .concat('\n');
  const inset = (text: string) => text.trimEnd().replaceAll('\n', '\n    ');
  const serve = (text: string, environment = {}) => guardedHere(text, folder, environment);
  const trusting = () => ['--cacert', authority.cert];
  const as = ({ cert, key }: Pair) => [...trusting(), '--cert', cert, '--key', key];
  const offering = async (address: string, ...args: readonly string[]) => {
    const options = ['s_client', '-connect', address, '-CAfile', authority.cert, '-verify_return_error', ...args];
    return ran('openssl', options);
  };

  test('curl that trusts the authority gets every page, and one that speaks plain HTTP gets none', async () => {
    const { address } = await serve(tls());
    for (const path of ['/metrics', '/healthz', '/status', '/']) {
      expect(await curl(`https://${address}${path}`, ...trusting())).toMatchObject({ exit: 0, status: 200 });
    }
    expect((await curl(`http://${address}/metrics`)).status).toBe(0);
    expect((await curl(`https://${address}/metrics`)).exit).toBe(60);
  });

  test('certificate and key may be in the file itself', async () => {
    const text = `tls_server_config:\n  cert: |\n    ${inset(server.certText)}\n  key: |\n    ${inset(server.keyText)}\n`;
    const { address } = await serve(text);
    expect(await curl(`https://${address}/healthz`, ...trusting())).toMatchObject({ exit: 0, status: 200 });
  });

  test.each([
    ['is not named', [], ['1.2', '1.3']],
    ['is at least 1.3', ['min_version: TLS13'], ['1.3']],
    ['is at most 1.2', ['max_version: TLS12'], ['1.2']],
    ['is 1.0, for who needs that', ['min_version: TLS10'], ['1.1', '1.2', '1.3']],
  ])('where the version %s, %j speaks TLS %j', async (_, lines, expected) => {
    const { address } = await serve(tls(...lines));
    const offers = { 1.1: ['-tls1_1', '-cipher', 'ALL@SECLEVEL=0'], 1.2: ['-tls1_2'], 1.3: ['-tls1_3'] };
    const spoken: string[] = [];
    for (const [version, args] of Object.entries(offers)) {
      const { exit, output } = await offering(address, ...args);
      if (exit === 0 && output.includes(`TLSv${version}`)) spoken.push(version);
    }
    expect(spoken).toEqual(expected);
  });

  test('only the named cipher suites are spoken in TLS 1.2, the first of them first, and those of 1.3 always', async () => {
    const { address } = await serve(
      tls(
        'cipher_suites:',
        '  - TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384',
        '  - TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256',
      ),
    );
    const both = 'ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384';
    expect((await offering(address, '-tls1_2', '-cipher', both)).output).toContain('Cipher is ECDHE-ECDSA-AES256-GCM');
    expect((await offering(address, '-tls1_2', '-cipher', 'ECDHE-ECDSA-CHACHA20-POLY1305')).exit).not.toBe(0);
    expect((await offering(address, '-tls1_3')).exit).toBe(0);
  });

  test('a client that is to choose the suite chooses it', async () => {
    const suites = ['cipher_suites:', '  - TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384'];
    suites.push('  - TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256', 'prefer_server_cipher_suites: false');
    const { address } = await serve(tls(...suites));
    const both = 'ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384';
    expect((await offering(address, '-tls1_2', '-cipher', both)).output).toContain('Cipher is ECDHE-ECDSA-AES128-GCM');
  });

  test.each([
    ['CurveP256', 'CurveP384'],
    ['CurveP521', 'X25519'],
  ])('only the named curves are spoken: %s and %s', async (...curves) => {
    const { address } = await serve(tls(`curve_preferences: [${curves.join(', ')}]`));
    const groups = { CurveP256: 'P-256', CurveP384: 'P-384', CurveP521: 'P-521', X25519: 'X25519' };
    const spoken: string[] = [];
    for (const [curve, group] of Object.entries(groups)) {
      if ((await offering(address, '-groups', group)).exit === 0) spoken.push(curve);
    }
    expect(spoken).toEqual(curves);
  });

  test('a suite that signs the older way is spoken where it is named', async () => {
    const suites = ['cipher_suites:', '  - TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA', '  - TLS_AES_128_GCM_SHA256'];
    const named = await serve(tls(...suites));
    const old = ['-tls1_2', '-cipher', 'ECDHE-ECDSA-AES128-SHA'];
    expect((await offering(named.address, ...old)).output).toContain('Cipher is ECDHE-ECDSA-AES128-SHA');
    const usual = await serve(tls());
    expect((await offering(usual.address, ...old)).exit).not.toBe(0);
  });

  const [none, trusted, unknown] = ['none', 'trusted', 'unknown'] as const;
  test.each<[type: string, ca: boolean, lets: readonly string[]]>([
    ['NoClientCert', false, [none, trusted, unknown]],
    ['RequestClientCert', false, [none, trusted, unknown]],
    ['RequireAnyClientCert', false, [trusted, unknown]],
    ['RequireClientCert', false, [trusted, unknown]],
    ['VerifyClientCertIfGiven', true, [none, trusted]],
    ['RequireAndVerifyClientCert', true, [trusted]],
  ])('client_auth_type %s, with an authority: %s, lets in %j', async (type, hasCa, lets) => {
    const ca = hasCa ? ['client_ca_file: authority.crt'] : [];
    const { address } = await serve(tls(`client_auth_type: ${type}`, ...ca));
    const args = { none: trusting(), trusted: as(client), unknown: as(stranger) };
    // Either version: in 1.3 the handshake is over for the client before its certificate is looked at.
    for (const version of ['1.2', '1.3']) {
      const letIn: string[] = [];
      for (const [who, credentials] of Object.entries(args)) {
        const { status } = await curl(`https://${address}/metrics`, '--tls-max', version, ...credentials);
        if (status === 200) letIn.push(who);
        else expect(status).toBe(0);
      }
      expect(letIn).toEqual(lets);
    }
  });

  test.each([
    ['DNS', 'prometheus', true],
    ['URI', 'spiffe://a/b', true],
    ['IP address, however it is written', '0:0:0:0:0:0:0:1', true],
    ['mail address', 'me@example.com', true],
    ['name that is not there', 'prometheus.example.com', false],
  ])('client_allowed_sans lets in by a %s', async (_, name, isIn) => {
    const { address } = await serve(
      tls(
        'client_auth_type: RequireAndVerifyClientCert',
        'client_ca_file: authority.crt',
        'client_allowed_sans:',
        `  - "${name}"`,
        '  - other',
      ),
    );
    expect((await curl(`https://${address}/metrics`, ...as(client))).status).toBe(isIn ? 200 : 0);
  });

  test('the authority of the clients may be in the file itself, and lets in those whom it has signed for', async () => {
    const text = tls('client_auth_type: RequireAndVerifyClientCert', 'client_ca: |', `  ${inset(authority.certText)}`);
    const { address } = await serve(text);
    const statuses: number[] = [];
    for (const args of [trusting(), as(stranger), as(client)]) {
      statuses.push((await curl(`https://${address}/metrics`, ...args)).status);
    }
    expect(statuses).toEqual([0, 0, 200]);
  });

  // Only by name: a client that connects to an address sends none, and Node.js then requests no context for it.
  test('an authority below another is trusted by itself, by clients that name the host, while its time lasts', async () => {
    const middle = makePair(folder, 'middle', { by: authority, authority: true });
    const member = makePair(folder, 'member', { by: middle });
    const chain = join(folder, 'chain.crt');
    writeFileSync(chain, member.certText + middle.certText);
    const over = makePair(folder, 'over', { by: authority, authority: true, days: 0 });
    const late = makePair(folder, 'late', { by: over });
    const statuses = async (ca: string, ...clients: readonly Pair[]) => {
      const asked = ['client_auth_type: RequireAndVerifyClientCert', `client_ca_file: ${ca}.crt`];
      const { address } = await serve(tls(...asked));
      const [, port] = address.split(':');
      const found: number[] = [];
      for (const version of ['1.2', '1.3']) {
        for (const who of clients) {
          found.push((await curl(`https://localhost:${port}/metrics`, '--tls-max', version, ...as(who))).status);
        }
      }
      return found;
    };
    const sendsBoth = { ...member, cert: chain };
    expect(await statuses('middle', member, sendsBoth, client, stranger)).toEqual([200, 200, 0, 0, 200, 200, 0, 0]);
    expect(await statuses('over', late)).toEqual([0, 0]);
  });

  test('probes get in without a client certificate where the operator has opened their paths, and only there', async () => {
    const text = tls('client_auth_type: RequireAndVerifyClientCert', 'client_ca_file: authority.crt');
    const { address } = await serve(text, { WEB_OPEN_PATHS: '/healthz' });
    expect((await curl(`https://${address}/healthz`, ...trusting())).status).toBe(200);
    for (const path of ['/readyz', '/metrics', '/', '/nowhere', '/healthz/../metrics']) {
      const asked = await curl(`https://${address}${path}`, '--path-as-is', ...trusting());
      expect(asked).toMatchObject({ status: 403, text: 'the client sent no certificate\n' });
    }
    const unknown = await curl(`https://${address}/metrics`, ...as(stranger));
    expect(unknown).toMatchObject({ status: 403, text: 'the client certificate is not trusted\n' });
    expect((await curl(`https://${address}/metrics`, ...as(client))).status).toBe(200);
  });

  test('who has no client certificate takes nothing of the rate limit', async () => {
    const text = tls('client_auth_type: RequireAndVerifyClientCert', 'client_ca_file: authority.crt');
    const limit = 'rate_limit: { interval: 1h, burst: 1 }\n';
    const { address } = await serve(`${text}${limit}`, { WEB_OPEN_PATHS: '/healthz' });
    const statuses: number[] = [];
    for (const args of [trusting(), as(stranger), as(client), as(client), trusting()]) {
      statuses.push((await curl(`https://${address}/metrics`, ...args)).status);
    }
    expect(statuses).toEqual([403, 403, 200, 429, 403]);
    expect((await curl(`https://${address}/healthz`, ...trusting())).status).toBe(200);
  });

  test('[plain-or-no-certificate] TLS, a client certificate and a password are all asked for where the file says all of them', async () => {
    const { address } = await guarded(
      `${tls('client_auth_type: RequireAndVerifyClientCert', 'client_ca_file: authority.crt')}basic_auth_users:\n  me: ${GEHEIM}\n`,
      folder,
    );
    for (const way of [`http://${address}`, `https://${address}`]) {
      expect((await curl(`${way}/metrics`, ...trusting(), '-u', 'me:geheim')).status).toBe(0);
    }
    expect((await curl(`https://${address}/metrics`, ...as(client))).status).toBe(401);
    expect((await curl(`https://${address}/metrics`, ...as(client), '-u', 'me:geheim')).status).toBe(200);
  });

  test.each([
    ['a key of another certificate', 'key_file: client.key', /server\.crt and key_file client\.key do not match/],
    [
      'a certificate that is not there',
      'key_file: nowhere.key',
      /^WEB_CONFIG_FILE: key_file .*nowhere\.key cannot be read \(ENOENT\)$/,
    ],
    [
      'a key that is none',
      'key_file: server.crt',
      /^WEB_CONFIG_FILE: key_file server\.crt contains no private key; expected PEM/,
    ],
    [
      'an authority that is none',
      'client_ca_file: server.key',
      /^WEB_CONFIG_FILE: client_ca_file server\.key contains no certificate/,
    ],
    [
      'an authority in the file itself that is none',
      'client_ca: none',
      /^WEB_CONFIG_FILE: client_ca contains no certificate; expected PEM/,
    ],
  ])('%s ends the start with words', async (_, line, words) => {
    const lines = line.startsWith('key_file')
      ? [line]
      : [line, 'key_file: server.key', 'client_auth_type: VerifyClientCertIfGiven'];
    const text = ['tls_server_config:', '  cert_file: server.crt', ...lines.map((each) => `  ${each}`)].join('\n');
    await expect(serve(text)).rejects.toMatchObject({ errors: [expect.stringMatching(words)] });
  });
});
