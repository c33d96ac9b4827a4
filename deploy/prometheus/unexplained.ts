import { inhibitRules } from './inhibition.ts';
import type { AlertRule, RecordingRule } from './rule.ts';

/** What an alert is about, beside its filer. */
const ABOUT = ['volume', 'api', 'resource', 'action', 'list', 'disk', 'type', 'kind', 'reason', 'instance'];

/** What tells apart series of one alert and is in `about`, or is no difference for a person. */
const LEFT_OUT = [
  ...['pod', 'filer_guid', 'volume_guid', 'serial', 'direction'],
  ...ABOUT.filter((label) => label !== 'volume'),
];

/** Whose outage explains that alerts of a page fire: nothing new is known of what they are about. */
const services: Readonly<Partial<Record<AlertRule['page'], string>>> = {
  'file-acceleration': 'gfa',
  appliances: 'portal',
  portal: 'portal',
};

/**
 * How long each alert has gone on that neither an outage nor another alert explains, as Alertmanager is configured to inhibit
 * them. The boards read it: in each of their queries it would cost seconds in a large fleet.
 */
export function unexplainedRule(alerts: readonly AlertRule[]): RecordingRule {
  const firing = (names: readonly string[]) => `ALERTS{alertname=~"${names.join('|')}",alertstate="firing"}`;
  const explained = inhibitRules.map(({ sources, targets, equal }) => {
    return `${firing(targets)} and on (${equal.join(', ')}) ${firing(sources)}`;
  });
  const inOutage = ['gfa', 'portal'].map((api) => {
    const names = alerts.filter(({ page }) => services[page] === api).map(({ alert }) => alert);
    return `${firing(names)} and on (job) filer_api_up{api="${api}"} == 0`;
  });
  const expr = [
    `max without (${LEFT_OUT.join(', ')}) (`,
    '  label_replace(label_join(',
    '    (time() - ALERTS_FOR_STATE{alertname=~"Filer.+"})',
    `    and ignoring (alertstate) ${firing(['Filer.+'])}`,
    ...[...explained, ...inOutage].map((clause) => `    unless ignoring (alertstate) (${clause})`),
    `  , "about", " ", ${ABOUT.map((label) => `"${label}"`).join(', ')}), "about", "$1", "about", " *(.*?) *")`,
    ')',
  ].join('\n');
  return { record: 'alert:ALERTS:unexplained_age', expr };
}
