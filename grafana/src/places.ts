import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import { type DashboardLink, DashboardLinkType } from '@grafana/grafana-foundation-sdk/dashboard';

/** A link, ready to be put on a panel, a series or a dashboard. */
export type Link = Builder<DashboardLink>;

/** Every dashboard by its uid, which is part of its address, so a uid never changes. */
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

/** The tag of all dashboards, by which each links to the others. */
export const TAG = 'filer-exporter';

const KEPT = `$\{__url_time_range}&$\{datasource:queryparam}&$\{job:queryparam}`;

/** Returns the address of a dashboard with the time range, data source and job of this one, and with more variables. */
export function addressOf(place: Place, variables: Readonly<Record<string, string>> = {}): string {
  const more = Object.entries(variables).map(([name, value]) => `&var-${name}=${value}`);
  return `/d/${uids[place]}?${KEPT}${more.join('')}`;
}

/** Returns a link from a series to the dashboard that shows more of its filer or volume. */
export function drillDown(place: Place, label: 'filer' | 'volume', value?: string): Link {
  const address = addressOf(place, { [label]: value ?? `$\{__field.labels.${label}}` });
  return link({ title: `This ${label} on ${titles[place]}`, url: address });
}

/** The address of a panel of the dashboard Runbooks. */
export function runbookAddress(panel: number | string): string {
  return `/d/${uids.runbooks}?viewPanel=${panel}`;
}

/** Links to the runbook whose panel is in another column of the row. */
export function runbook(column: string): Link {
  return link({ title: 'The runbook', url: runbookAddress(`$\{__data.fields.${column}.text}`), targetBlank: true });
}

/** Links to a dashboard without a filer, for panels that are not about one filer. */
export function more(place: Place): Link {
  return link({ title: `More on ${titles[place]}`, url: addressOf(place) });
}

/** The list of all dashboards at the top of each dashboard. */
export function everyDashboard(): Link {
  return link({ title: 'Filer dashboards', type: DashboardLinkType.Dashboards, tags: [TAG], asDropdown: true });
}

/** The title of each dashboard. */
export const titles: Readonly<Record<Place, string>> = {
  overview: 'Filers / Overview',
  volumes: 'Filers / Filers and volumes',
  appliance: 'Filers / Appliance',
  fleet: 'Filers / Fleet',
  account: 'Filers / Account',
  exporter: 'Filers / Exporter',
  runbooks: 'Filers / Runbooks',
};

/** The link is made here, because the builder of the SDK puts every link into a menu that only the newest Grafana has. */
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
