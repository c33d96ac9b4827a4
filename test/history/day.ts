import { expect, onTestFinished } from 'vitest';
import { differences, MINUTE_MS, Play } from './play.ts';
import type { RealReceiver } from './receivers.ts';

const START = Date.UTC(2026, 2, 2, 6);

/**
 * A day of the stand-in's minutes with outages of each side, kills and restarts, sent to a real receiver: then every minute
 * of every series is compared with what the stand-in holds.
 */
export async function dayOf(receiver: RealReceiver): Promise<void> {
  onTestFinished(() => receiver.kill());
  await receiver.start();
  const play = await Play.begin({ appliances: 2, start: START, send: receiver.send });
  onTestFinished(() => play.close());
  const { standIn } = play;

  await play.hours(3);
  // The exporter is gone for two hours, with what had arrived in its state file.
  const saved = play.remote.cursors.state();
  await play.hours(2, { polls: false, sends: false });
  await play.restart(saved);
  await play.hours(1);
  // It is killed right after sending, and knows no more than ten minutes before.
  const old = play.remote.cursors.state();
  await play.hours(0.5);
  await play.restart(old);
  await play.hours(1);
  // It is killed between a poll and sending.
  await play.poll();
  await play.restart();
  await play.hours(1);
  // The receiver is gone for three hours, and its restart is in the middle of a round.
  await receiver.kill();
  await play.hours(3);
  await play.poll();
  await receiver.start();
  await play.hours(2);
  // The portal is in trouble for an hour and a half.
  const heal = standIn.fail({ kind: 'status', status: 503 });
  await play.hours(1.5);
  heal();
  await play.hours(1);
  // Long answers are too large: the period is halved and both halves are fetched.
  await play.hours(4, { polls: false, sends: false });
  await play.restart();
  const lift = standIn.fail({ kind: 'status', status: 413, operation: 'cpu_utilization', times: 4 });
  await play.hours(4);
  lift();

  const last = play.remote.cursors.newest ?? 0;
  // The newest minutes of one appliance may have to wait for its next report.
  const to = last - 20 * MINUTE_MS;
  const from = START - 14 * MINUTE_MS;
  const truth = await play.truth(from, to);
  expect(truth.size).toBeGreaterThan(30);
  expect([...truth.values()].reduce((sum, { size }) => sum + size, 0)).toBeGreaterThan(40_000);
  expect(differences(truth, await receiver.points(from, to)).slice(0, 10)).toEqual([]);
}
