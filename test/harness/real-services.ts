import { onTestFinished } from 'vitest';
import { startServer } from '../../src/demo/server.ts';
import { credentials, type Options, SimulatedServices } from '../../src/demo/services.ts';
import { systemClock } from '../../src/runtime/clock.ts';

/** The simulated services on a free port, and the variables of an exporter that polls them often. */
export async function realServices(options: Partial<Options> & { readonly appliances?: number } = {}) {
  const services = new SimulatedServices(systemClock, options);
  const server = await startServer(services);
  onTestFinished(() => server.close());
  const variables = {
    GFA_URL: server.gfaUrl,
    GFA_TOKEN: credentials.gfaToken,
    GFA_INTERVAL: '1s',
    PORTAL_URL: server.portalUrl,
    PORTAL_SERVICE_KEY: credentials.serviceKey,
    PORTAL_SERVICE_SECRET: credentials.serviceSecret,
  };
  return { services, variables };
}
