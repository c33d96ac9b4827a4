import { parseArgs } from 'node:util';
import { prometheusRuleFile, rulesFile } from './files.ts';
import { alertRules } from './groups.ts';
import type { Choices } from './render.ts';
import { thresholdNames, thresholdRows } from './thresholds.ts';

/** `npm run rules`: writes the recording rules and alerts to stdout, with the chosen thresholds and links. */

const DURATION = /^(?:0|(?:\d+(?:ms|[smhdwy]))+)$/;

/** What the command prints, and its exit code: 0, or 1 with one line for each error. */
export function rulesCommand(args: readonly string[]): { readonly code: 0 | 1; readonly text: string } {
  const faults: string[] = [];
  const pairs = (option: string, entries: readonly string[], known: readonly string[], isRight: RegExp | 'number') =>
    Object.fromEntries(
      entries.map((entry) => {
        const [name = '', value = ''] = entry.split(/=(.*)/s);
        const right =
          isRight === 'number' ? value.trim() !== '' && Number.isFinite(Number(value)) : isRight.test(value);
        if (!known.includes(name)) faults.push(`--${option} ${entry}: expected one of ${known.join(', ')}`);
        else if (!right)
          faults.push(`--${option} ${entry}: expected ${name}=${isRight === 'number' ? 'NUMBER' : '10m'}`);
        return [name, value];
      }),
    );
  const options = optionsOf(args, faults);
  const alerts = alertRules.map(({ alert }) => alert);
  const numbers = pairs('threshold', options.threshold, thresholdNames, 'number');
  const keepFiringFor = options['keep-firing-for'];
  if (keepFiringFor !== undefined && !DURATION.test(keepFiringFor)) {
    faults.push(`--keep-firing-for ${keepFiringFor}: expected a duration such as 15m`);
  }
  const choices: Choices = {
    thresholds: Object.fromEntries(Object.entries(numbers).map(([name, value]) => [name, Number(value)])),
    for: pairs('for', options.for, alerts, DURATION),
    without: options.without,
    ...(options.runbooks === undefined ? {} : { runbooks: options.runbooks }),
    ...(options.status === undefined ? {} : { status: options.status }),
    ...(keepFiringFor === undefined ? {} : { keepFiringFor }),
  };
  for (const name of options.without.filter((one) => !alerts.some((alert) => alert === one))) {
    faults.push(`--without ${name}: expected one of ${alerts.join(', ')}`);
  }
  for (const [option, example] of Object.entries(EXAMPLES)) {
    const url = options[option as keyof typeof EXAMPLES];
    if (url === undefined || /^https?:\/\/\S+$/.test(url)) continue;
    faults.push(`--${option} ${url}: expected a URL such as ${example}`);
  }
  if (faults.length > 0) return { code: 1, text: `${faults.join('\n')}\n` };
  if (options.help) return { code: 0, text: help() };
  return { code: 0, text: options.operator ? prometheusRuleFile(choices) : rulesFile(choices) };
}

const EXAMPLES = {
  runbooks: 'https://grafana.example.com/d/filer-runbooks',
  status: 'https://filer-exporter.example.com/status',
} as const;

const NONE = {
  threshold: [],
  for: [],
  without: [],
  runbooks: undefined,
  status: undefined,
  'keep-firing-for': undefined,
  operator: false,
  help: false,
};

function optionsOf(args: readonly string[], faults: string[]) {
  const repeated = { type: 'string', multiple: true, default: [] as string[] } as const;
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        threshold: repeated,
        for: repeated,
        without: repeated,
        runbooks: { type: 'string' },
        status: { type: 'string' },
        'keep-firing-for': { type: 'string' },
        operator: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    });
    return { ...NONE, ...values };
  } catch (error) {
    faults.push(error instanceof Error ? error.message : String(error));
    return NONE;
  }
}

function help(): string {
  const width = Math.max(...thresholdNames.map(({ length }) => length));
  const rows = thresholdNames.map((name) => {
    const { value, meaning } = thresholdRows[name];
    return `  ${name.padEnd(width)}  ${String(value).padEnd(12)}  ${meaning}`;
  });
  return `npm run --silent rules -- [OPTION]…   writes the rules on stdout

  --threshold NAME=NUMBER  changes a threshold; see below
  --for ALERT=DURATION     changes how long an alert waits before it fires
  --keep-firing-for TIME   keeps every alert firing this long after its cause has ended; default 7m
  --without ALERT          leaves an alert out
  --runbooks URL           the URL of the dashboard Runbooks, as https://grafana.example.com/d/filer-runbooks, or of a copy of
                           docs/runbooks; without it alerts have no link to it
  --status URL             the URL of the page /status; alerts that say to read it link to the line. Templates such as
                           http://{{$labels.job}}.example.com/status hold
  --operator               writes a PrometheusRule for the Prometheus operator

Thresholds:
${rows.join('\n')}
`;
}
