import type { ApplianceReport } from '../../status/report.ts';
import type { GroupReport } from '../../status/task-report.ts';
import { badge, formatCount, formatRelativeTime, SUSPENSION_REASON } from './format.ts';
import { type HtmlValue, html } from './html.ts';

/** What a reader has chosen, as the fields of the query: it survives a reload and can be bookmarked. */
export type View = URLSearchParams;

/** The rest of a longer filter is ignored, because each word of a filter is looked for in each row. */
export const FILTER_LENGTH = 100;

/** The address of a view with some fields changed, relative to the page; undefined removes a field. */
export function addressOf(view: View, changes: Readonly<Record<string, string | undefined>>): string {
  const fields = new URLSearchParams(view);
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) fields.delete(name);
    else fields.set(name, value);
  }
  return `?${fields}`;
}

interface Kind {
  readonly title: string;
  readonly has: (appliance: ApplianceReport) => boolean;
}

/** What a tile counts and selects: appliances in a state, the worst state first, or with a property that readers search for. */
export const KINDS = new Map(
  Object.entries<Kind>({
    down: { title: 'Down', has: ({ state }) => state === 'down' },
    unknown: { title: 'Unknown', has: ({ state }) => state === 'unknown' },
    waiting: { title: 'Waiting', has: ({ state }) => state === 'waiting' },
    up: { title: 'Up', has: ({ state }) => state === 'up' },
    error: { title: 'With errors', has: ({ lastError }) => lastError !== null },
    rejected: { title: 'Rejected series', has: (appliance) => rejectedTasks(appliance).length > 0 },
  }),
);

const KIND_ORDER = [...KINDS.keys()];

interface Column {
  readonly title: string;
  /** What the column sorts by; an empty text is an unknown value, which is last in both directions. */
  readonly key: (appliance: ApplianceReport, place: number) => string | number;
  readonly cell: (appliance: ApplianceReport, now: string) => HtmlValue;
}

/** The columns of the fleet, in their order, by the value of the field `sort`. */
export const COLUMNS = new Map(
  Object.entries<Column>({
    name: {
      title: 'Appliance',
      // The report is sorted by name, as people expect it.
      key: (_, place) => place,
      cell: ({ name }) => name,
    },
    state: {
      title: 'State',
      key: ({ state }) => KIND_ORDER.indexOf(state),
      cell: ({ state, downReason }) => html`${badge(state)} ${downReason?.replace('_', ' ')}`,
    },
    serial: {
      title: 'Serial',
      key: ({ serial }) => serial,
      cell: ({ serial }) => html`<code>${serial}</code>`,
    },
    build: {
      title: 'Build',
      key: ({ build }) => (build ?? '').replaceAll(/\d+/g, (digits) => digits.padStart(8, '0')),
      cell: ({ build, availableBuild }) =>
        html`${build ?? '–'}${availableBuild === null ? undefined : html` <span class="muted">→ ${availableBuild}</span>`}`,
    },
    poll: {
      title: 'Last poll',
      key: ({ lastPoll }) => lastPoll ?? '',
      cell: ({ lastPoll }, now) => formatRelativeTime(lastPoll, now),
    },
    record: {
      title: 'Last record',
      key: ({ lastRecord }) => lastRecord ?? '',
      cell: ({ lastRecord }, now) => (lastRecord === null ? '–' : formatRelativeTime(lastRecord, now)),
    },
    series: {
      title: 'Series',
      key: (appliance) => rejectedTasks(appliance).length,
      cell: tasksCell,
    },
    error: {
      title: 'Last error',
      key: ({ lastError }) => lastError?.message ?? '',
      // If an appliance is unknown, its service is down, and the card of the service says what to do.
      cell: (appliance, now) => errorCell(appliance, now, appliance.state !== 'unknown'),
    },
  }),
);

/** Returns the appliances that a view shows, in its order: by state if it names no other column. */
export function selectAppliances(fleet: readonly ApplianceReport[], view: View): readonly ApplianceReport[] {
  const filter = view.get('filter') ?? '';
  const words = filter.slice(0, FILTER_LENGTH).toLowerCase().split(/\s+/).filter(Boolean);
  const kind = KINDS.get(view.get('show') ?? '');
  const selected = fleet.filter((appliance) => (kind?.has(appliance) ?? true) && containsAll(appliance, words));
  const column = COLUMNS.get(view.get('sort') ?? 'state');
  const rows = selected.map((appliance, place) => ({ appliance, key: column?.key(appliance, place) ?? place }));
  const sign = view.get('order') === 'descending' ? -1 : 1;
  rows.sort((one, other) => {
    const unknown = Number(one.key === '') - Number(other.key === '');
    return unknown || sign * (one.key < other.key ? -1 : Number(one.key > other.key));
  });
  return rows.map(({ appliance }) => appliance);
}

function containsAll(appliance: ApplianceReport, words: readonly string[]): boolean {
  const { name, serial, build, availableBuild, downReason, suspended, lastError } = appliance;
  const operations = suspended.map(({ operation }) => operation);
  const texts = [name, serial, build, availableBuild, downReason, ...operations];
  const text = [...texts, lastError?.operation, lastError?.message].join(' ').toLowerCase();
  return words.every((word) => text.includes(word));
}

/** Returns the suspended tasks that should have data. A series without records is normal: no appliance has every disk. */
function rejectedTasks({ suspended }: GroupReport): GroupReport['suspended'] {
  return suspended.filter(({ reason }) => reason !== 'empty');
}

/** Tasks without records are named only in the tooltip, because every appliance lacks some. */
export function tasksCell(group: GroupReport): HtmlValue {
  const rejected = rejectedTasks(group);
  const reasons = new Set(rejected.map(({ reason }) => SUSPENSION_REASON[reason]));
  const text = rejected.length === 0 ? '' : `, ${rejected.length} suspended: ${[...reasons].join(', ')}`;
  const tooltip = group.suspended
    .map(({ operation, reason }) => `${operation}: ${SUSPENSION_REASON[reason]}`)
    .join('\n');
  return html`<span title="${tooltip}">${formatCount(group.tasks)}${text}</span>`;
}

export function errorCell({ failing, lastError }: GroupReport, now: string, hasAdvice: boolean): HtmlValue {
  if (lastError === null) return '–';
  const { message, time, advice } = lastError;
  const step = hasAdvice ? `; ${advice}` : '';
  const others = failing > 1 ? ` · ${failing} failing` : '';
  return html`<span class="error">${message}${step}</span> <span class="muted">${formatRelativeTime(time, now)}${others}</span>`;
}
