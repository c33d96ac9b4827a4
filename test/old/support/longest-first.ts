import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * What took longest when somebody looked last, the longest first. A new clone has no times of its own, and Vitest would
 * begin with the largest files: these are among the smallest, and would run last with nothing beside them.
 */
const LONGEST = `
  journeys/plain.all polling/constant-behaviour.all exposition/prometheus-large.all large/day.all web/tls.all
  e2e/gathered.all troubles/troubles.all journeys/kubernetes.all troubles/demo.all browser/status.all attacks/strangers.all
  process/loose-files.all deploy/helm/objects.all process/secrets.all process/heavy-answers.all transport/tls.all simulation/found.all
  process/hard-start.all process/read-only.all attacks/files.all deploy/prometheus/exporter.all process/backfill.all
  web/slow-clients.all large/large simulation/drawn process/commands doctor/steps lives/outages process/signals large/receivers
  process/doctor
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
