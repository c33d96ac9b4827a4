import type { ServiceCauses } from '../../contract/causes.ts';
import type { ServiceWarning } from '../../contract/service-warning.ts';

export const gfaCauses: ServiceCauses = {
  names: { url: 'GFA_URL, which ends in /v1', credentials: 'GFA_TOKEN', rate: 'lengthen GFA_INTERVAL' },
  advice: {
    credentials:
      'check {credentials}: it must be the complete key that the portal issued, not revoked[; {doctor} finds out whether it needs the word Bearer]',
    forbidden: 'issue a key that is valid for this account, and set {credentials} to it',
    rejected:
      'after 406 check in the portal that the account has the acceleration add-on and a volume in mode Active or Observation; else check {url}',
  },
};

export const fullEventMemory: ServiceWarning = {
  code: 'event_memory',
  happened:
    'the memory of events is full: an evicted event counts again if the service sends it again, and an event that cannot be remembered is dropped',
  advice: 'give the process more memory',
};
