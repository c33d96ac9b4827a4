import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import {
  CustomVariableBuilder,
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  VariableHide,
  type VariableModel,
  VariableRefresh,
  VariableSort,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { byAccount } from './by-account.ts';
import { metricNamed } from './catalogue.ts';
import { checkIns, withoutTelemetry } from './common.ts';
import { limits } from './limits.ts';
import { worstAppliances, worstFilers } from './worst-filers.ts';

/** The data source of every query of a dashboard, which the reader chooses at its top. */
export const DATA_SOURCE = { type: 'prometheus', uid: `$\{datasource}` } as const;

const job = 'job="$job"';
const named = (...names: readonly string[]) => names.map((name) => metricNamed(name).name).join('|');

const everyFiler = named(
  'filer_last_checkin_timestamp_seconds',
  'filer_volume_last_checkin_timestamp_seconds',
  'filer_appliance_info',
  // Series of an appliance that remain in an outage.
  'filer_appliance_state',
);

const everyVolume = named(
  'filer_volume_info',
  'filer_volume_last_checkin_timestamp_seconds',
  'filer_volume_accessible_bytes',
  'filer_snapshot_latest_timestamp_seconds',
);

/** The numbers by which Grafana's editor knows these kinds of queries. */
const LABEL_VALUES = 1;
const QUERY_RESULT = 3;

/** The name of the filer in a row that Grafana makes of a series. */
const NAME = '/filer="([^"]+)"/';

const silent = `(${checkIns('filer')} > ${limits.missingCheckIn}) or ${withoutTelemetry}`;

/** The filers, those without contact or telemetry for longest first. The variable does not limit its own list. */
const worstFirst = `sort_desc(${silent.replaceAll(',filer=~"$filer"', '')} or on (filer) 0 * group by (filer) ({__name__=~"${everyFiler}",${job}}))`;

/** Every variable by its name. A dashboard has the variables that its queries use. */
export const variables: Readonly<Record<string, Builder<VariableModel>>> = {
  datasource: new DatasourceVariableBuilder('datasource')
    .label('Data source')
    .description('The Prometheus that scrapes the exporter.')
    .type('prometheus'),
  // Only one job can be chosen, because a number of two accounts would be right for neither. Remote write uses a job of its
  // own.
  job: choice(
    'job',
    'Account',
    'The scrape job of the exporters of one account.',
    `label_values(${named('filer_exporter_build_info')}{job!~".*-minutes"}, job)`,
  )
    .multi(false)
    .includeAll(false)
    .current({ text: '', value: '' }),
  filer: choice(
    'filer',
    'Filer',
    'Filers and appliances by name.',
    `label_values({__name__=~"${everyFiler}",${job}}, filer)`,
  ),
  appliance: choice(
    'filer',
    'Appliance',
    'The appliance of this dashboard: the worst one first, unless a link chose another.',
    `query_result(${byAccount(worstFirst)})`,
    QUERY_RESULT,
  )
    .regex(NAME)
    .sort(VariableSort.Disabled)
    .multi(false)
    .includeAll(false)
    .current({ text: '', value: '' }),
  worstFilers: worst(worstFilers),
  worstAppliances: worst(worstAppliances),
  // Only the volumes of the chosen filers are listed.
  volume: choice(
    'volume',
    'Volume',
    'Volumes by name, of the filers that are chosen.',
    `label_values({__name__=~"${everyVolume}",${job},filer=~"$filer"}, volume)`,
  ),
  window: list('window', 'Event window', 'How far back counts of events reach.', {
    chosen: '1h',
    values: ['30m', '1h', '3h', '6h', '1d'],
  }),
  top: list('top', 'Show', 'How many appliances the rankings show.', { chosen: '10', values: ['5', '10', '20', '50'] }),
};

/** A variable whose values Grafana queries, with several choices and "All", which includes series without the label. */
function choice(...of: Parameters<typeof queried>): QueryVariableBuilder {
  return queried(...of).allValue('.*');
}

function queried(
  name: string,
  label: string,
  description: string,
  query: string,
  qryType = LABEL_VALUES,
): QueryVariableBuilder {
  return new QueryVariableBuilder(name)
    .label(label)
    .description(description)
    .datasource(DATA_SOURCE)
    .query({ qryType, query, refId: `variable-${name}` })
    .definition(query)
    .refresh(VariableRefresh.OnTimeRangeChanged)
    .sort(VariableSort.AlphabeticalCaseInsensitiveAsc)
    .multi(true)
    .includeAll(true)
    .current({ text: ['All'], value: ['$__all'] });
}

/**
 * A hidden variable of the filers that a table shows. It ranks them once, where each column's query would rank all filers
 * again.
 */
function worst(ranked: string): QueryVariableBuilder {
  return queried('worst', 'Worst', 'The filers of the table.', `query_result(${byAccount(ranked)})`, QUERY_RESULT)
    .regex(NAME)
    .sort(VariableSort.Disabled)
    .hide(VariableHide.HideVariable);
}

function list(
  name: string,
  label: string,
  description: string,
  { chosen, values }: { readonly chosen: string; readonly values: readonly string[] },
): CustomVariableBuilder {
  return new CustomVariableBuilder(name)
    .label(label)
    .description(description)
    .values(values.join(','))
    .current({ text: chosen, value: chosen })
    .options(values.map((value) => ({ text: value, value, selected: value === chosen })));
}
