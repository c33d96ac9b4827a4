import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import { type DashboardLink, DashboardLinkType } from '@grafana/grafana-foundation-sdk/dashboard';

/** A link, ready to be put on a panel, a series or a dashboard. */
export type Link = Builder<DashboardLink>;

/** Every dashboard by its uid, which is part of its address and so a promise. */
export const uids = {
  overview: 'filer-overview',
  volumes: 'filer-volumes',
  appliance: 'filer-appliance',
  fleet: 'filer-fleet',
  account: 'filer-account',
  exporter: 'filer-exporter',
  runbooks: 'filer-runbooks',
} as const;

/** One of the dashboards. */
export type Place = keyof typeof uids;

/** What all of them are tagged with, so that each links to the others. */
export const TAG = 'filer-exporter';

const KEPT = `$\{__url_time_range}&$\{datasource:queryparam}&$\{job:queryparam}`;

/** The address of a dashboard, with the time range, data source and job of this one, and more variables. */
export function addressOf(place: Place, variables: Readonly<Record<string, string>> = {}): string {
  const more = Object.entries(variables).map(([name, value]) => `&var-${name}=${value}`);
  return `/d/${uids[place]}?${KEPT}${more.join('')}`;
}

/** A drill-down from a series: to the dashboard that has more of its filer or volume. */
export function drillDown(place: Place, label: 'filer' | 'volume', value?: string): Link {
  const address = addressOf(place, { [label]: value ?? `$\{__field.labels.${label}}` });
  return link({ title: `This ${label} on ${titles[place]}`, url: address });
}

/** The address of a panel of the dashboard Runbooks. */
export function runbookAddress(panel: number | string): string {
  return `/d/${uids.runbooks}?viewPanel=${panel}`;
}

/** The runbook whose panel another column of the row has. */
export function runbook(column: string): Link {
  return link({ title: 'The runbook', url: runbookAddress(`$\{__data.fields.${column}.text}`), targetBlank: true });
}

/** A link to a dashboard as it is, for panels that are about no one filer. */
export function more(place: Place): Link {
  return link({ title: `More on ${titles[place]}`, url: addressOf(place) });
}

/** The list of all dashboards, at the top of each. */
export function everyDashboard(): Link {
  return link({ title: 'Filer dashboards', type: DashboardLinkType.Dashboards, tags: [TAG], asDropdown: true });
}

/** What each dashboard is called. */
export const titles: Readonly<Record<Place, string>> = {
  overview: 'Filers / Overview',
  volumes: 'Filers / Filers and volumes',
  appliance: 'Filers / Appliance',
  fleet: 'Filers / Fleet',
  account: 'Filers / Account',
  exporter: 'Filers / Exporter',
  runbooks: 'Filers / Runbooks',
};

/** Built here: the SDK's own builder puts every link into a menu of the newest Grafana. */
function link(of: Partial<DashboardLink> & Pick<DashboardLink, 'title'>): Link {
  return {
    build: () => ({
      type: DashboardLinkType.Link,
      icon: 'external link',
      tooltip: '',
      tags: [],
      asDropdown: false,
      targetBlank: false,
      includeVars: true,
      keepTime: true,
      ...of,
    }),
  };
}
