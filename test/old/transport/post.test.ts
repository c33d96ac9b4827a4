// Only here: what a receiver's response is taken for, on real connections.
import { createServer, type RequestListener } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { createDispatcher } from '../../src/transport/dispatcher.ts';
import { post } from '../../src/transport/post.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { until } from '../support/until.ts';
import { listening, onwards } from './polite.ts';

const TIMEOUT_MS = 10_000;

async function posted(listener: RequestListener) {
  const server = createServer(listener);
  const url = await listening(server);
  const dispatcher = createDispatcher(undefined);
  onTestFinished(() => dispatcher.destroy());
  const clock = new ManualClock();
  const limits = { clock, timeoutMs: TIMEOUT_MS, signal: onwards };
  const response = await post(dispatcher, `${url}/write?db=filers`, {}, Buffer.from('points'), limits);
  const connections = () =>
    new Promise<number>((resolve, reject) => {
      server.getConnections((error, count) => (error ? reject(error) : resolve(count)));
    });
  return { response, connections, clock };
}

test('the path and the query are those of the URL', async () => {
  const { response } = await posted(({ url }, answer) => answer.writeHead(400).end(url));
  expect(response).toMatchObject({ status: 400, text: '/write?db=filers' });
});

test('a request is accepted though the body of its response is cut', async () => {
  const { response } = await posted((_, answer) => {
    answer.writeHead(200, { 'content-length': 100 }).write('{"', () => answer.destroy());
  });
  expect(response.status).toBe(200);
});

test('a request is accepted though the body of its response never ends, and then its connection is closed', async () => {
  const { response, connections, clock } = await posted((_, answer) => {
    answer.writeHead(200, { 'content-length': 100 }).write('{"');
  });
  expect(response.status).toBe(200);
  expect(await connections()).toBe(1);
  await clock.advance(TIMEOUT_MS);
  await until('the connection to be closed', async () => (await connections()) === 0);
});
