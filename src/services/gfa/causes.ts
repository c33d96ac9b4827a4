import type { ServiceCauses } from '../../contract/causes.ts';
import { serviceWarning } from '../../contract/service-warning.ts';

export const gfaCauses: ServiceCauses = {
  names: { url: 'GFA_URL, which ends in /v1', credentials: 'GFA_TOKEN', rate: 'lengthen GFA_INTERVAL' },
  own: {
    credentials: {
      advice: 'check GFA_TOKEN: it must be the complete key that the portal issued, not revoked',
      doctor: 'whether it needs the word Bearer',
    },
    forbidden: { advice: 'issue a key that is valid for this account, and set GFA_TOKEN to it' },
    rejected: {
      advice:
        'after 406 check in the portal that the account has the acceleration add-on and a volume in mode Active or Observation; else check GFA_URL',
    },
  },
};

export const fullEventMemory = serviceWarning(
  'event_memory',
  'the memory of events is full: an evicted event counts again if the service sends it again, and an event that cannot be remembered is dropped',
);
