import { readFileSync } from 'node:fs';
import type { Config, RemoteWriteConfig } from '../config/config.ts';
import { proxyFor } from '../config/no-proxy.ts';
import { headerPairs } from '../config/remote-write.ts';
import type { Send } from '../history/receiver.ts';
import { RemoteWrite } from '../history/remote-write.ts';
import { ConfigError, codeOf } from '../runtime/errors.ts';
import type { ConfiguredUpstream } from '../sources/upstreams.ts';
import { createDispatcher } from '../transport/dispatcher.ts';
import { post } from '../transport/post.ts';
import type { Environment } from './environment.ts';

/** Remote write as configured; undefined if it is off. Throws a ConfigError if a certificate cannot be read. */
export function historyOf(
  config: Config,
  asked: readonly ConfiguredUpstream[],
  { clock, random, log, version }: Environment,
): RemoteWrite | undefined {
  const { remoteWrite } = config;
  const [points] = asked.flatMap(({ upstream, settings }) => upstream.points?.(settings) ?? []);
  if (remoteWrite === undefined || points === undefined) return undefined;
  return new RemoteWrite(
    { ...remoteWrite, lookbackMs: points.lookbackMs, sweepMs: points.intervalMs },
    sendOf(remoteWrite, config, clock, version),
    { clock, random, log },
  );
}

function sendOf(settings: RemoteWriteConfig, config: Config, clock: Environment['clock'], version: string): Send {
  const { url, token, basic, headers } = settings;
  const { timeoutMs, proxy } = config.requests;
  const way = proxyFor(url, proxy);
  const dispatcher = createDispatcher(1, way && { ...way, timeoutMs }, tlsOf(settings));
  const secrets = [token, basic?.password, headers].filter((one) => one !== undefined);
  return async (own, body, signal) => {
    const further = { 'user-agent': `filer-exporter/${version}`, ...headerPairs(headers?.reveal() ?? '') };
    const all = { ...further, ...authorization(settings), ...own };
    const answer = await post(dispatcher, url, all, body, { clock, timeoutMs, signal });
    if (answer.status === 401 || answer.status === 403) for (const secret of secrets) await secret.reload();
    return answer;
  };
}

function authorization({ token, basic }: RemoteWriteConfig): Readonly<Record<string, string>> {
  if (token !== undefined) return { authorization: `Bearer ${token.reveal()}` };
  if (basic === undefined) return {};
  return { authorization: `Basic ${Buffer.from(`${basic.user}:${basic.password.reveal()}`).toString('base64')}` };
}

function tlsOf({ tls }: RemoteWriteConfig): Readonly<Record<string, string>> {
  const files = [
    ['ca', tls.caFile, 'REMOTE_WRITE_CA_FILE'],
    ['cert', tls.certFile, 'REMOTE_WRITE_CERT_FILE'],
    ['key', tls.keyFile, 'REMOTE_WRITE_KEY_FILE'],
  ] as const;
  const faults: string[] = [];
  const texts: Record<string, string> = {};
  for (const [name, path, variable] of files) {
    try {
      if (path !== undefined) texts[name] = readFileSync(path, 'utf8');
    } catch (error) {
      const code = codeOf(error) ?? 'unknown';
      faults.push(`${variable}: "${path}" cannot be read (${code}); expected the path of a PEM file`);
    }
  }
  if (faults.length > 0) throw new ConfigError(faults);
  return texts;
}
