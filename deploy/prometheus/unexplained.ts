import { inhibitRules } from './inhibition.ts';
import { type AlertRule, matching, type RecordingRule } from './rule.ts';

/** The labels that name the subject of an alert, in addition to its filer. */
const ABOUT = ['volume', 'api', 'resource', 'action', 'list', 'disk', 'type', 'kind', 'reason', 'instance'];

/** Labels that the recorded series lacks: `about` contains them, or they make no difference for a person. */
const LEFT_OUT = [
  ...['pod', 'filer_guid', 'volume_guid', 'serial', 'direction'],
  ...ABOUT.filter((label) => label !== 'volume'),
];

/** The service that the alerts of a page get their data from. While it is down, its outage explains these alerts. */
const services: Readonly<Partial<Record<AlertRule['page'], string>>> = {
  'file-acceleration': 'gfa',
  appliances: 'portal',
  portal: 'portal',
};

/**
 * Records for how long each alert has been firing that neither an outage nor another alert explains, by the same rules by
 * which Alertmanager inhibits messages. The dashboards read the recorded series, because the expression would take
 * seconds in each of their queries in a large fleet.
 */
export function unexplainedRule(alerts: readonly AlertRule[]): RecordingRule {
  const firing = (names: readonly string[]) => `ALERTS{alertname${matching(names.join('|'))},alertstate="firing"}`;
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
