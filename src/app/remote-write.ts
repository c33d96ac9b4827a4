import { type Config, type RemoteWriteConfig, secretTexts } from '../config/config.ts';
import { proxyFor } from '../config/proxy.ts';
import { headerPairs } from '../config/remote-write.ts';
import { RemoteWrite } from '../history/remote-write.ts';
import type { Send } from '../history/sender.ts';
import { HEADERS, writeRequest } from '../history/write-request.ts';
import { shownWords } from '../runtime/masking.ts';
import type { ConfiguredService } from '../services/services.ts';
import { createDispatcher } from '../transport/dispatcher.ts';
import { post } from '../transport/post.ts';
import type { Environment } from './environment.ts';

/** Services keep the minutes of 30 days. The oldest hour would be gone before the last tasks are polled. */
const MAX_CATCH_UP_MS = 30 * 86_400_000 - 3_600_000;

/** About 100 MB, and two minutes of 2,000 appliances. */
const MAX_WAITING = 200_000;

export function createRemoteWrite(
  config: Config,
  services: readonly ConfiguredService[],
  environment: Environment,
): RemoteWrite | undefined {
  const { remoteWrite, forgetAfterMs } = config;
  const { clock, random, log } = environment;
  const [bins] = services.flatMap(({ service, settings }) => service.historyBins?.(settings) ?? []);
  if (remoteWrite === undefined || bins === undefined) return undefined;
  const { labels, hasCatchUp } = remoteWrite;
  const catchUpMs = Math.min(remoteWrite.catchUpMs, MAX_CATCH_UP_MS);
  // A first start reads the past only if the operator has set how far, and if the next start will not be a first one.
  const firstMs = hasCatchUp && config.stateFile !== undefined ? catchUpMs : bins.lookbackMs;
  const send = sendOf(remoteWrite, config, environment);
  const options = { ...bins, firstMs, catchUpMs, forgetAfterMs, maxWaiting: MAX_WAITING };
  return new RemoteWrite(options, { send, clock, random, log, labels });
}

function sendOf(settings: RemoteWriteConfig, config: Config, environment: Environment): Send {
  const { clock, version, connect = createDispatcher } = environment;
  const { url, token, basic, headers } = settings;
  const { timeoutMs } = config.requests;
  const dispatcher = connect(proxyFor(url, config.requests));
  const secrets = [token, basic?.password, headers].filter((one) => one !== undefined);
  return async (series, signal) => {
    const additional = { 'user-agent': `filer-exporter/${version}`, ...headerPairs(headers?.reveal() ?? '') };
    const all = { ...additional, ...authorization(settings), ...HEADERS };
    const response = await post(dispatcher, url, all, writeRequest(series), { clock, timeoutMs, signal });
    if (response.status === 401 || response.status === 403) for (const secret of secrets) await secret.reload();
    const said = shownWords(response.text.trim().split('\n')[0], secretTexts(config));
    return { ...response, said };
  };
}

function authorization({ token, basic }: RemoteWriteConfig): Readonly<Record<string, string>> {
  if (token !== undefined) return { authorization: `Bearer ${token.reveal()}` };
  if (basic === undefined) return {};
  return { authorization: `Basic ${Buffer.from(`${basic.user}:${basic.password.reveal()}`).toString('base64')}` };
}
