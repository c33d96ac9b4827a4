import { createServer, type RequestListener } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { createDispatcher } from '../../../src/transport/dispatcher.ts';
import { post } from '../../../src/transport/post.ts';
import { ManualClock } from '../../harness/manual-clock.ts';
import { until } from '../../harness/until.ts';
import { portOf, running } from './served.ts';

async function posted(listener: RequestListener, signal = running) {
  const server = createServer(listener);
  const url = `http://127.0.0.1:${await portOf(server)}/write?db=filers`;
  const dispatcher = createDispatcher(undefined);
  onTestFinished(() => dispatcher.destroy());
  const clock = new ManualClock();
  const limits = { clock, timeoutMs: 10_000, signal };
  return { response: await post(dispatcher, url, {}, Buffer.from('points'), limits), clock };
}

test('the path and the query are those of the URL, and of a rejection 64 KiB are read', async () => {
  const { response } = await posted(({ url }, answer) => answer.writeHead(400).end(url?.padEnd(70_000)));
  expect(response).toMatchObject({ status: 400, text: '/write?db=filers'.padEnd(65_536) });
});

test('nothing is sent after a stop', async () => {
  const seen: unknown[] = [];
  const error = { message: 'POST /write was aborted: the exporter is stopping' };
  await expect(posted((request) => seen.push(request), AbortSignal.abort())).rejects.toMatchObject(error);
  expect(seen).toEqual([]);
});

test('a request is accepted although the body of its response hangs, and the time limit closes the connection', async () => {
  const closed: unknown[] = [];
  const { response, clock } = await posted((request, answer) => {
    request.socket.once('close', () => closed.push(true));
    answer.writeHead(200, { 'content-length': 100 }).write('{"');
  });
  expect([response.status, closed]).toEqual([200, []]);
  await clock.advance(10_000);
  await until('the end of the connection', () => closed.length > 0);
});
