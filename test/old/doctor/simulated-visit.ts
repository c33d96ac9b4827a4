import { createDoctor } from '../../src/app/doctor.ts';
import { demoEnvironment } from '../../src/demo/demo.ts';
import { type MockServices, startMockServices, type Variations } from '../../src/demo/mock-services.ts';
import type { DoctorResult } from '../../src/doctor/doctor.ts';
import type { Network } from '../../src/doctor/network.ts';
import type { Report } from '../../src/doctor/report.ts';
import { createLog } from '../../src/runtime/log.ts';
import { systemRandom } from '../../src/runtime/random.ts';
import { Network as Wires } from '../harness/network.ts';
import { loadConfig } from '../support/load-config.ts';
import { ManualClock } from '../support/manual-clock.ts';

/** How a doctor run against the mock services went. */
export interface Visit {
  readonly found: DoctorResult;
  readonly report: Report;
  /** Requests that the services saw, and what the doctor said beforehand. */
  readonly requests: number;
  readonly announced: number;
  /** Every line that is not ok, as `warning portal clock skewed`. */
  readonly complaints: readonly string[];
  readonly answers: Readonly<Record<string, string>>;
}

/** What a test changes before the doctor comes. */
export interface Condition {
  readonly variations?: Partial<Variations>;
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly network?: Network;
  readonly before?: (mocks: MockServices) => void;
}

/** A network on which every name resolves and every chain is good. */
export const healthyNetwork: Network = {
  resolve: async () => ['192.0.2.1'],
  handshake: async () => ({ fault: undefined, endsAt: Date.UTC(2030, 0, 1), protocol: 'TLSv1.3' }),
};

/** Without snapshots, which take the mock services long to make up. */
const USUAL = 'telemetry,volumes,edges,license,jobs,notifications';

/** Milliseconds of the clock in each turn of the event loop, while the doctor is at work. */
const TURN_MS = 20;

/** Lets the doctor examine mock services. */
export async function visit({ variations = {}, environment = {}, network, before }: Condition = {}): Promise<Visit> {
  const clock = new ManualClock();
  const wires = new Wires();
  const mocks = await startMockServices({ clock, variations: { ...variations } });
  wires.listens(mocks.portalUrl, mocks.serve);
  before?.(mocks);
  const config = loadConfig({
    environment: {
      ...demoEnvironment({}, mocks),
      PORTAL_SERIES: 'all',
      PORTAL_COLLECTORS: USUAL,
      REQUEST_TIMEOUT: '10m',
      ...environment,
    },
  });
  const log = createLog('silent', process.stderr);
  const given = {
    clock,
    random: systemRandom,
    log,
    connect: () => wires.connect(),
    version: '0.0.0',
    revision: 'test',
    nodeVersion: process.version,
  };
  const doctor = createDoctor(config, given, network ?? healthyNetwork);
  try {
    const found = await clock.through(doctor.run(new AbortController().signal), TURN_MS);
    return {
      found,
      get report() {
        return doctor.report(found);
      },
      requests: mocks.requests.length,
      announced: doctor.requests,
      complaints: found.findings
        .filter(({ level }) => level !== 'ok')
        .map(({ level, subject, check, code }) => `${level} ${subject} ${check} ${code}`),
      answers: Object.fromEntries(
        found.services.flatMap(({ variants }) => variants.map(({ question, answer }) => [question, answer])),
      ),
    };
  } finally {
    await doctor.close();
    await mocks.close();
  }
}
