import { landingPage } from '../../src/pages/landing-page.ts';
import { StatusDocuments } from '../../src/pages/status-documents.ts';
import { type Clock, systemClock } from '../../src/runtime/clock.ts';
import type { StatusReport } from '../../src/status/model.ts';
import { serve } from '../http/serving.ts';
import { reportOf } from '../pages/reports.ts';

/** A server whose status a test decides. */
export interface ServedStatus {
  readonly url: string;
  /** What is told from now on. */
  tell(change: Partial<StatusReport>): void;
  /** Whether it answers at all from now on. */
  answers(is: boolean): void;
  /** How often the status was asked for. */
  readonly asked: number;
}

/** Serves the status pages of a report; it ends with the test. */
export async function serveStatus(change: Partial<StatusReport> = {}): Promise<ServedStatus> {
  let report = reportOf(change);
  let answering = true;
  let asked = 0;
  let moment = 0;
  // A second passes at every look: nobody gets what was made for somebody else.
  const clock: Clock = { ...systemClock, monotonic: () => (moment += 1_000) };
  const status = new StatusDocuments(() => Promise.resolve(report), clock);
  const told = <Made>(made: () => Promise<Made>) => {
    asked += 1;
    return answering ? made() : Promise.reject(new Error('the test lets it fail'));
  };
  const { port } = await serve({
    statusPage: (query) => told(() => status.page(query)),
    statusJson: () => told(() => status.json()),
    landingPage: () => Promise.resolve(landingPage('1.2.3', '/metrics')),
  });
  return {
    url: `http://127.0.0.1:${port}`,
    tell: (more) => {
      report = { ...report, ...more };
    },
    answers: (is) => {
      answering = is;
    },
    get asked() {
      return asked;
    },
  };
}
