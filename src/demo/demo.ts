import type { MockServices } from './mock-services.ts';
import type { Variations } from './variations.ts';

export { startMockServices as startStandIn } from './mock-services.ts';
export { demoNotice } from './notice.ts';
export { variationsFromReport as variationsLike } from './report-variations.ts';

/** The account of the demo; `like`: what is other, by a doctor's report. */
export function demoVariations(like: Partial<Variations> = {}): Partial<Variations> {
  return {
    dataProtected: true,
    rateLimit: { kind: 'sliding-window', ...LIMITS.burst },
    dailyLimit: LIMITS.daily,
    ...like,
  };
}

/** Switches one appliance off: visitors can follow the failure from the page to the alert and its runbook. */
export function switchOffAppliance(standIn: Pick<MockServices, 'fleet' | 'switchOff'>): void {
  const [, , third] = standIn.fleet.appliances;
  if (third !== undefined) standIn.switchOff(third.serial);
}

/** The limits of the demo's account: higher than real ones, because it is polled ten times as often. */
const LIMITS = { burst: { requests: 3_000, windowMs: 30_000 }, daily: 10_000_000 } as const;

/**
 * The environment that points the exporter at the mock services: read like a real one, and served through the same client.
 * Shorter intervals than in real use, so that a visitor sees values move. What the visitor's own environment says of
 * real accounts and proxies is left out; the rest of it, as `LISTEN_ADDRESS` and `LOG_LEVEL`, holds.
 */
export function demoEnvironment(
  own: Readonly<Record<string, string | undefined>>,
  standIn: Pick<MockServices, 'gfaUrl' | 'portalUrl' | 'credentials'>,
): Readonly<Record<string, string | undefined>> {
  const kept = Object.entries(own).filter(([name]) => !/^(?:GFA|PORTAL)_|_PROXY$/i.test(name));
  return {
    ...Object.fromEntries(kept),
    GFA_URL: standIn.gfaUrl,
    GFA_TOKEN: standIn.credentials.gfaToken,
    GFA_INTERVAL: '10s',
    PORTAL_URL: standIn.portalUrl,
    PORTAL_SERVICE_KEY: standIn.credentials.serviceKey,
    PORTAL_SERVICE_SECRET: standIn.credentials.serviceSecret,
    PORTAL_INTERVAL: '30s',
    PORTAL_DISCOVERY_INTERVAL: '1m',
    PORTAL_SERIES: 'all,appliance_health_score=1m',
    PORTAL_COLLECTORS: 'all=30s',
    PORTAL_RATE_LIMIT: `${LIMITS.burst.requests}/${LIMITS.burst.windowMs}ms`,
    PORTAL_DAILY_LIMIT: String(LIMITS.daily),
  };
}
