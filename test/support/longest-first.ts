import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * What took longest when somebody looked last, the longest first. A new clone has no times of its own, and Vitest would
 * begin with the largest files: these are among the smallest, and would run last with nothing beside them.
 */
const LONGEST = [
  'large/day.all',
  ...['journeys/plain.all', 'process/hard-start.all', 'troubles/troubles.all', 'process/heavy-answers.all'],
  ...[
    'simulation/found.all',
    'journeys/kubernetes.all',
    'troubles/demo.all',
    'attacks/files.all',
    'process/secrets.all',
  ],
  ...['attacks/strangers.all', 'web/slow-clients.all', 'web/tls.all'],
  ...['exposition/prometheus-large.all', 'deploy/prometheus/cases.all', 'attacks/guests.all', 'browser/picture.all'],
  ...[
    'large/large',
    'simulation/drawn',
    'process/signals',
    'app/faults',
    'doctor/doctor',
    'lives/fairness',
    'lives/fleet',
    'lives/up',
    'lives/outages',
  ],
].map((name) => `/test/${name}.test.ts`);

/** Begins with the files that take longest, so that none of them is still running when all others have ended. */
export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rankOf = ({ moduleId }: TestSpecification) => {
      const index = LONGEST.findIndex((name) => moduleId.endsWith(name));
      return index < 0 ? LONGEST.length : index;
    };
    return (await super.sort(files)).toSorted((one, other) => rankOf(one) - rankOf(other));
  }
}
