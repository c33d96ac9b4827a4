import { describe, expect, onTestFinished, test } from 'vitest';
import { startMockServices } from '../../src/demo/mock-services.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { runHere } from '../support/command.ts';
import { gfaEnvironment, portalEnvironment } from '../support/real-services.ts';
import { figure } from './figure.ts';

const APPLIANCES = 20;

describe('what --plan expects is within a fifth of what an exporter serves', () => {
  const none = { PORTAL_RATE_LIMIT: '100000/1s', PORTAL_DAILY_LIMIT: '0' };
  test.each([
    ['the portal as it is by default', false, {}],
    ['the portal with every collector and series', false, { PORTAL_COLLECTORS: 'all', PORTAL_SERIES: 'all' }],
    ['both services', true, {}],
    ['both services without histograms', true, { PORTAL_COLLECTORS: 'all', EVENT_HISTOGRAMS: 'false' }],
  ])('%s', async (_, hasGfa, more) => {
    const variations = { rateLimit: null, dailyLimit: null };
    const mocks = await startMockServices({ clock: systemClock, appliances: APPLIANCES, volumes: 5, variations });
    onTestFinished(() => mocks.close());
    const gfa = hasGfa ? gfaEnvironment(mocks) : {};
    const portal = { ...portalEnvironment(mocks), PORTAL_SERIES: '' };
    const environment = { ...gfa, ...portal, ...none, ...more };
    const planned = await runHere(['--plan', '--appliances', `${APPLIANCES}`], { environment });
    const { stdout } = await runHere(['--once'], { environment });
    const samples = Number(/^filer_exporter_samples (\S+)$/m.exec(stdout)?.[1]);
    expect(samples).toBeGreaterThan(1_000);
    expect(figure(planned.stdout, 'Samples') / samples).toBeGreaterThan(0.8);
    expect(figure(planned.stdout, 'Samples') / samples).toBeLessThan(1.2);
    // The exporter says of itself some 60 KiB.
    const size = stdout.length - 60 * 1024;
    expect(figure(planned.stdout, 'Size of a scrape') / size).toBeGreaterThan(0.75);
    expect(figure(planned.stdout, 'Size of a scrape') / size).toBeLessThan(1.25);
  });
});
