import type { ServiceCauses } from '../../contract/causes.ts';
import { serviceWarning } from '../../contract/service-warning.ts';

export const portalCauses: ServiceCauses = {
  names: {
    url: 'PORTAL_URL, the base address of the account’s region',
    credentials: 'PORTAL_SERVICE_KEY and PORTAL_SERVICE_SECRET, or PORTAL_USER_KEY',
    rate: 'lower PORTAL_RATE_LIMIT',
    without: 'add -telemetry to PORTAL_COLLECTORS',
  },
  own: {
    credentials: {
      advice:
        'check PORTAL_SERVICE_KEY and PORTAL_SERVICE_SECRET, or PORTAL_USER_KEY: complete, not revoked, and of this account and region',
      doctor: 'whether PORTAL_AUTH is wrong',
    },
  },
};

export const missingLicence = serviceWarning(
  'licence',
  'the licence lacks ops_iq_premium, so every telemetry series is forbidden (403)',
  'forbidden',
);
