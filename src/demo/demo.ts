import type { MockServices } from './mock-services.ts';
import type { Variations } from './variations.ts';

export { startMockServices } from './mock-services.ts';
export { demoNotice } from './notice.ts';
export { variationsFromReport } from './report-variations.ts';

/** The variations of the demo's account. `like` overrides them with those of a doctor's report. */
export function demoVariations(like: Partial<Variations> = {}): Partial<Variations> {
  return {
    dataProtected: true,
    rateLimit: { kind: 'sliding-window', ...LIMITS.burst },
    dailyLimit: LIMITS.daily,
    ...like,
  };
}

/** Switches one appliance off: visitors can follow the failure from the page to the alert and its runbook. */
export function switchOffAppliance(services: Pick<MockServices, 'fleet' | 'switchOff'>): void {
  const [, , third] = services.fleet.appliances;
  if (third !== undefined) services.switchOff(third.serial);
}

/** The limits of the demo's account: higher than real ones, because it is polled ten times as often. */
const LIMITS = { burst: { requests: 3_000, windowMs: 30_000 }, daily: 10_000_000 } as const;

/**
 * The environment that points the exporter at the mock services. It is read like a real one. Its intervals are short,
 * so that a visitor sees values move. It leaves out what the visitor's own environment says of accounts and proxies,
 * and keeps the rest, such as `LISTEN_ADDRESS`.
 */
export function demoEnvironment(
  own: Readonly<Record<string, string | undefined>>,
  services: Pick<MockServices, 'gfaUrl' | 'portalUrl' | 'credentials'>,
): Readonly<Record<string, string | undefined>> {
  const kept = Object.entries(own).filter(([name]) => !/^(?:GFA|PORTAL)_|_PROXY$/i.test(name));
  return {
    ...Object.fromEntries(kept),
    GFA_URL: services.gfaUrl,
    GFA_TOKEN: services.credentials.gfaToken,
    GFA_INTERVAL: '10s',
    PORTAL_URL: services.portalUrl,
    PORTAL_SERVICE_KEY: services.credentials.serviceKey,
    PORTAL_SERVICE_SECRET: services.credentials.serviceSecret,
    PORTAL_INTERVAL: '30s',
    PORTAL_DISCOVERY_INTERVAL: '1m',
    PORTAL_SERIES: 'all,appliance_health_score=1m',
    PORTAL_COLLECTORS: 'all=30s',
    PORTAL_RATE_LIMIT: `${LIMITS.burst.requests}/${LIMITS.burst.windowMs}ms`,
    PORTAL_DAILY_LIMIT: String(LIMITS.daily),
  };
}
