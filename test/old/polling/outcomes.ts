import { type Context, NOTHING_KNOWN, observe, type TaskEvent, type TaskFacts } from '../../src/polling/task-facts.ts';
import { RequestError } from '../../src/runtime/errors.ts';
import { failed, minutes, nothing, records, responded, task } from './fleet.ts';

const answered = (status: number) => failed(new RequestError('status', 'rejected', { status }), 'denied');

const OUTCOMES: readonly (readonly [name: string, event: TaskEvent])[] = [
  ['records', responded(records)],
  ['no record', responded(nothing)],
  ['403', answered(403)],
  ['404', answered(404)],
  ['422', answered(422)],
  ['anything else', failed()],
];

const context: Context = {
  task: task('a/s', { suspendedIntervalMs: minutes(15) }),
  now: 1,
  at: 1,
  intervalFactor: 1,
  applianceReports: true,
};

/** What the function that changes a task makes of each outcome, once, twice and three times in a row after records. */
export function outcomesTable(): string {
  const rows = OUTCOMES.map(([name, event]) => {
    const known = observe(NOTHING_KNOWN, responded(records), context);
    const once = observe(known, event, context);
    const twice = observe(once, event, context);
    const never = [1, 2, 3].reduce((facts) => observe(facts, event, context), NOTHING_KNOWN);
    const cells = [name, valuesAfter(event, once), countsOf(once), stateOf(twice), stateOf(never)];
    return `| ${cells.join(' | ')} |`;
  });
  return [
    '| a poll brings | its values | failures, polls without a record | after two in a row | after three in a row, if the series never had records |',
    '|---|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}

function valuesAfter({ result }: TaskEvent, { isExposed }: TaskFacts): string {
  if (result === 'records') return 'are replaced';
  return isExposed && result === 'failed' ? 'stay until they are stale' : 'are removed';
}

function countsOf({ failures, recordless }: TaskFacts): string {
  return `${failures}, ${recordless}`;
}

function stateOf({ suspended }: TaskFacts): string {
  return suspended === undefined ? 'polled at its interval' : `suspended: \`${suspended}\``;
}
