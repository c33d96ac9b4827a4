import { onTestFinished } from 'vitest';
import { type MockServices, type MockServicesOptions, startMockServices } from '../../src/demo/mock-services.ts';
import { systemClock } from '../../src/runtime/clock.ts';

type Variables = Readonly<Record<string, string>>;

/** What points an exporter at a mock portal: two series of each appliance, everything every ten seconds. */
export function portalEnvironment({ portalUrl, credentials }: MockServices): Variables {
  return {
    PORTAL_URL: portalUrl,
    PORTAL_SERVICE_KEY: credentials.serviceKey,
    PORTAL_SERVICE_SECRET: credentials.serviceSecret,
    PORTAL_INTERVAL: '10s',
    PORTAL_DISCOVERY_INTERVAL: '10s',
    PORTAL_SERIES: 'cpu_utilization,load_average',
    PORTAL_COLLECTORS: 'telemetry,volumes=10s,edges=10s,license=10s',
  };
}

/** What points it at its file acceleration service, every ten seconds. */
export function gfaEnvironment({ gfaUrl, credentials }: MockServices): Variables {
  return { GFA_URL: gfaUrl, GFA_TOKEN: credentials.gfaToken, GFA_INTERVAL: '10s' };
}

/** Both services over connections, by the clock of this machine, for one test; and what points an exporter at them. */
export async function realServices(options: Partial<MockServicesOptions> = {}) {
  const mocks = await startMockServices({ clock: systemClock, appliances: 4, volumes: 2, ...options });
  onTestFinished(() => mocks.close());
  return { mocks, environment: { ...gfaEnvironment(mocks), ...portalEnvironment(mocks) } };
}
