import { dirname } from 'node:path';
import process from 'node:process';
import { test } from 'vitest';
import { backfilledDay } from './backfilled-day.ts';

/** The path of a Prometheus 3, with its promtool beside it. */
const newer = process.env.NEWER_PROMETHEUS ?? '';

test.skipIf(newer === '')('a Prometheus 3 holds a day that --backfill has read', () => backfilledDay(dirname(newer)));
