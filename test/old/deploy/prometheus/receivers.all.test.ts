// Only here: what the receivers of the example for Alertmanager are sent, and whether they accept it.
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { alertRules } from '../../../deploy/prometheus/groups.ts';
import { remedyOf } from '../../../deploy/prometheus/runbooks.ts';
import { alertmanagerProgram, startAlertmanager } from '../../journeys/alerting.ts';
import { servedPort } from '../../support/listening.ts';
import { root, temporaryDirectory } from '../../support/program.ts';
import { until } from '../../support/until.ts';
import type { Labels } from './case.ts';

interface Message {
  readonly receiver: 'mail' | 'pagerduty' | 'slack';
  /** What wakes a person, or the subject. */
  readonly title: string;
  readonly text: string;
}

/** Receivers that accept what the real ones do: a message without a text is answered with 400, and so is lost. */
async function startReceivers() {
  const messages: Message[] = [];
  const rejected: string[] = [];
  const http = createHttpServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const sent = JSON.parse(body);
    const [attachment = {}] = sent.attachments ?? [];
    const message: Message =
      request.url === '/pagerduty'
        ? {
            receiver: 'pagerduty',
            title: sent.payload?.summary ?? '',
            text: JSON.stringify(sent.payload?.custom_details),
          }
        : { receiver: 'slack', title: attachment.title ?? '', text: attachment.text ?? '' };
    const isResolve = sent.event_action === 'resolve';
    if (message.title.trim() !== '' && message.text.trim() !== '') messages.push(message);
    else if (!isResolve) rejected.push(body);
    response.statusCode = message.title.trim() === '' ? 400 : 202;
    response.end('{}');
  });
  const smtp = createServer((socket) => {
    let received = '';
    let isData = false;
    socket.write('220 mail\r\n');
    socket.on('data', (chunk) => {
      received += chunk;
      if (isData && !received.endsWith('\r\n.\r\n')) return;
      if (isData) messages.push({ receiver: 'mail', title: subjectOf(received), text: received });
      isData = /^DATA/i.test(received);
      socket.write(isData ? '354 go on\r\n' : '250 accepted\r\n');
      received = '';
    });
    socket.on('error', () => {});
  });
  const [httpPort, smtpPort] = await Promise.all([servedPort(http), servedPort(smtp)]);
  return { messages, rejected, url: `http://127.0.0.1:${httpPort}`, smarthost: `127.0.0.1:${smtpPort}` };
}

function subjectOf(mail: string): string {
  const header = /^Subject: ((?:.|\r\n[ \t])*)/m.exec(mail)?.[1] ?? '';
  const words = header.replaceAll(/\?=\r\n[ \t]=\?utf-8\?q\?/gi, '').replaceAll('_', ' ');
  return words.replaceAll(/=([\dA-F]{2})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}

/** The example as it is shipped, with the addresses of these receivers, and without its waiting. */
async function startExample() {
  const receivers = await startReceivers();
  const folder = temporaryDirectory();
  writeFileSync(join(folder, 'key'), 'key');
  const shipped = readFileSync(join(root, 'deploy/prometheus/alertmanager.yml'), 'utf8');
  const config = parse(shipped.replaceAll(/group_(wait|interval): \d+[ms]/g, 'group_$1: 1s'));
  config.global = { smtp_smarthost: receivers.smarthost, smtp_from: 'a@example.com', smtp_require_tls: false };
  config.global.slack_api_url = `${receivers.url}/slack`;
  for (const { pagerduty_configs = [] } of config.receivers) {
    for (const one of pagerduty_configs)
      Object.assign(one, { url: `${receivers.url}/pagerduty`, routing_key_file: join(folder, 'key') });
  }
  const address = await startAlertmanager(folder, stringify(config, { aliasDuplicateObjects: false }));
  return { ...receivers, send: (alerts: readonly object[]) => send(address, alerts) };
}

async function send(address: string, alerts: readonly object[]): Promise<void> {
  const { status } = await fetch(`http://${address}/api/v2/alerts`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(alerts),
  });
  expect(status).toBe(200);
}

/** An alert with the texts of its rule, as Prometheus sends it. */
function alert(name: string, labels: Labels, severity?: string) {
  const rule = alertRules.find((each) => each.alert === name);
  if (rule === undefined) throw new Error(`${name}: no such alert`);
  const { summary, description } = rule;
  const filled = description.replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, (_, label: string) => labels[label] ?? '');
  return {
    labels: { alertname: name, job: 'emea', severity: severity ?? rule.severity, ...labels },
    annotations: { summary, description: filled, runbook: remedyOf(rule) },
  };
}

const many = (name: string, count: number, labels: Labels = {}, severity?: string) =>
  Array.from({ length: count }, (_, index) =>
    alert(name, { filer: `edge-${`${index}`.padStart(3, '0')}`, ...labels }, severity),
  );

const run = alertmanagerProgram === undefined ? test.skip : test;

run(
  'many alerts of one cause are one message at each receiver, with the name, the number, the first filer, what is wrong and what to do',
  async () => {
    const count = 167;
    const { messages, rejected, send: sendAlerts } = await startExample();
    const volume = { volume: 'archive' };
    await sendAlerts([
      ...many('FilerSnapshotFailing', count, volume),
      ...many('FilerUnprotectedDataLarge', count, { volume: 'projects' }),
      ...many('FilerCloudCredentialFailing', count, {}, 'none'),
    ]);
    const ofAll = () => new Set(messages.map(({ receiver }) => receiver)).size === 3;
    await until('every receiver to have a message', () => ofAll() || undefined);
    expect(rejected).toEqual([]);
    expect(messages).toHaveLength(3);
    const titles = Object.fromEntries(messages.map(({ receiver, title }) => [receiver, title]));
    const first = `edge-000`;
    expect(titles.pagerduty).toBe(
      `FilerSnapshotFailing ${first} archive (first of ${count}): Snapshots of a volume fail. ${remedyOf(ruleOf('FilerSnapshotFailing'))}`,
    );
    expect(titles.slack).toBe(
      `[firing] FilerUnprotectedDataLarge ${first} projects (first of ${count}): Much data of a volume is not in the cloud.`,
    );
    expect(titles.mail).toContain(
      `FilerCloudCredentialFailing ${first} (first of ${count}): Cloud credentials have an error.`,
    );
    const slack = messages.find(({ receiver }) => receiver === 'slack')?.text ?? '';
    expect(slack).toContain('What to do: ');
    expect(slack.match(/What to do/g)).toHaveLength(10);
    const ended = new Date(Date.now() - 1_000).toISOString();
    await sendAlerts(
      many('FilerUnprotectedDataLarge', count, { volume: 'projects' }).map((one) => ({ ...one, endsAt: ended })),
    );
    const recovery = await until('the recovery', () => messages.find(({ title }) => title.startsWith('[resolved]')));
    expect(recovery.title).toContain('FilerUnprotectedDataLarge');
  },
);

const filers = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => ({ filer: `edge-${from + index}` }));

/** What fires, and the titles that arrive. */
const causes: readonly (readonly [when: string, alerts: readonly object[], titles: readonly RegExp[]])[] = [
  [
    'both services are down',
    ['gfa', 'portal'].map((api) => alert('FilerApiDown', { api, instance: 'a:9989' })),
    [/^FilerApiDown \(first of 2\)/],
  ],
  [
    'a filer is off, and its data and its appliance are affected',
    [
      ...['FilerNotCheckingIn', 'FilerApplianceDown', 'FilerApplianceCacheNearlyFull'].map((name) =>
        alert(name, { filer: 'edge-lima' }),
      ),
      ...['FilerDataAtRisk', 'FilerUnprotectedDataOld', 'FilerSnapshotFailing'].map((name) =>
        alert(name, { filer: 'edge-lima', volume: 'archive' }),
      ),
    ],
    [/^FilerNotCheckingIn edge-lima: /],
  ],
  [
    'an appliance is busy in three ways',
    ['FilerApplianceCpuHigh', 'FilerApplianceMemoryHigh', 'FilerApplianceCacheNearlyFull'].map((name) =>
      alert(name, { filer: 'edge-leeds' }),
    ),
    [/FilerApplianceCacheNearlyFull edge-leeds \(first of 3\)/],
  ],
  [
    '167 filers fall silent at once',
    [
      alert('FilerFleetNotCheckingIn', {}),
      alert('FilerFleetNotReporting', {}),
      ...filers(0, 167).flatMap((labels) => [alert('FilerNotCheckingIn', labels), alert('FilerApplianceDown', labels)]),
    ],
    [/^FilerFleetNotCheckingIn: Many filers do not check in\. /],
  ],
  [
    '167 appliances are busy at once',
    [alert('FilerFleetAffected', {}), ...filers(0, 167).map((labels) => alert('FilerApplianceCpuHigh', labels))],
    [/FilerFleetAffected: Many appliances have warnings\./],
  ],
];

run.each(causes)('%s: one message', async (_when, alerts, titles) => {
  const { messages, rejected, send: sendAlerts } = await startExample();
  await sendAlerts(alerts);
  await until('a message', () => messages[0]);
  // Another group would be sent within its wait of a second.
  await new Promise((resolve) => setTimeout(resolve, 2_500));
  expect(rejected).toEqual([]);
  expect(messages.map(({ title }) => title)).toEqual(titles.map((title) => expect.stringMatching(title)));
});

function ruleOf(name: string) {
  const rule = alertRules.find(({ alert: each }) => each === name);
  if (rule === undefined) throw new Error(`${name}: no such alert`);
  return rule;
}
