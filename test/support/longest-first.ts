import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * What took longest when somebody looked last, the longest first. A new clone has no times of its own, and Vitest would
 * begin with the largest files: these are among the smallest, and would run last with nothing beside them.
 */
const LONGEST = `
  large/day.all journeys/plain.all e2e/gathered.all deploy/prometheus/exporter.all troubles/troubles.all journeys/kubernetes.all
  simulation/found.all process/heavy-answers.all troubles/demo.all web/tls.all process/hard-start.all attacks/strangers.all
  web/slow-clients.all attacks/files.all process/secrets.all exposition/prometheus-large.all attacks/guests.all browser/picture.all
  large/large simulation/drawn lives/outages lives/fairness lives/fleet lives/up process/signals app/faults doctor/doctor
`
  .trim()
  .split(/\s+/)
  .map((name) => `/test/${name}.test.ts`);

/** Begins with the files that take longest, so that none of them is still running when all others have ended. */
export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rankOf = ({ moduleId }: TestSpecification) => {
      const index = LONGEST.findIndex((name) => moduleId.endsWith(name));
      return index < 0 ? LONGEST.length : index;
    };
    // A worker goes on with the next file only if it is of the same project.
    return (await super.sort(files)).toSorted(
      (one, other) => rankOf(one) - rankOf(other) || one.project.name.localeCompare(other.project.name),
    );
  }
}
