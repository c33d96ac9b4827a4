import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * What took longest when somebody looked last, the longest first. A new clone has no times of its own, and Vitest would
 * begin with the largest files: these are among the smallest, and would run last with nothing beside them.
 */
const LONGEST = [
  ...['journeys/plain.all', 'troubles/troubles.all', 'e2e/gathered.all', 'process/hard-start.all'],
  ...['lives/restarts.all', 'process/heavy-answers.all', 'journeys/kubernetes.all', 'process/secrets.all'],
  ...['chaos/drawn.all', 'attacks/files.all', 'web/slow-clients.all', 'attacks/strangers.all'],
  ...['deploy/prometheus/cases.all', 'exposition/prometheus-large.all', 'browser/picture.all'],
  ...['process/signals', 'lives/fairness', 'process/demo', 'lives/up', 'lives/outages', 'doctor/doctor', 'lives/fleet'],
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
