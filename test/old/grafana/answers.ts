import type { Panel } from '@grafana/grafana-foundation-sdk/dashboard';
import type { Dataquery } from '@grafana/grafana-foundation-sdk/prometheus';
import { filled } from '../../grafana/src/fill.ts';
import type { Prometheus } from '../support/prometheus.ts';
import type { Field, Frame } from './grafana.ts';

interface Series {
  readonly metric: Readonly<Record<string, string>>;
  readonly value?: readonly [seconds: number, value: string];
  readonly values?: readonly (readonly [seconds: number, value: string])[];
}

/** How far back a range reaches here, and its step, in seconds. */
const RANGE = 600;
const STEP = 15;

/** The real answers to all queries of a panel at one moment in Unix seconds, as Grafana's data source hands them on. */
export async function answersTo(
  prometheus: Prometheus,
  panel: Panel,
  { at, values }: { readonly at: number; readonly values: Readonly<Record<string, string>> },
): Promise<readonly Frame[]> {
  const answers = (panel.targets ?? []).map((target) => framesOf(prometheus, target as Dataquery, at, values));
  return (await Promise.all(answers)).flat();
}

/** What a query without an answer gives: an empty frame, not none. */
export function withoutAnswer(refId: string): Frame {
  return { refId, fields: [], length: 0 };
}

/** A frame for each series. */
async function framesOf(
  prometheus: Prometheus,
  { expr = '', legendFormat = '', refId = '', instant }: Dataquery,
  at: number,
  variables: Readonly<Record<string, string>>,
): Promise<readonly Frame[]> {
  const query = encodeURIComponent(filled(expr, variables));
  const { result } = await prometheus.ask<{ readonly result: readonly Series[] }>(
    instant
      ? `query?query=${query}&time=${at}`
      : `query_range?query=${query}&start=${at - RANGE}&end=${at}&step=${STEP}`,
  );
  if (result.length === 0) return [withoutAnswer(refId)];
  return result.map(({ metric, value, values = value === undefined ? [] : [value] }) => {
    const name = legendFormat.replaceAll(/\{\{\s*(\w+)\s*\}\}/g, (_, label: string) => metric[label] ?? '');
    return {
      refId,
      name,
      fields: [
        { name: 'Time', type: 'time', values: values.map(([seconds]) => seconds * 1000), config: {} },
        {
          name: 'Value',
          type: 'number',
          values: values.map(([, text]) => (text === 'NaN' ? null : Number(text))),
          labels: metric,
          config: { displayNameFromDS: name },
        },
      ],
      length: values.length,
    };
  });
}

/** The frames of a panel whose queries ask for tables: the data source makes one of each query, a column for each label. */
export function asTables(frames: readonly Frame[]): readonly Frame[] {
  const refIds = [...new Set(frames.map(({ refId }) => refId))];
  return refIds.map((refId) => {
    const own = frames.filter((frame) => frame.refId === refId && frame.length > 0);
    const labels = [...new Set(own.flatMap(({ fields }) => Object.keys(fields[1]?.labels ?? {})))];
    const columns: readonly Field[] = [
      { name: 'Time', type: 'time', values: own.flatMap(({ fields }) => fields[0]?.values ?? []), config: {} },
      ...labels.map((label): Field => {
        const values = own.flatMap(({ fields, length }) => Array(length).fill(fields[1]?.labels?.[label] ?? ''));
        return { name: label, type: 'string', values, config: { filterable: true } };
      }),
      {
        name: refIds.length > 1 ? `Value #${refId}` : 'Value',
        type: 'number',
        values: own.flatMap(({ fields }) => fields[1]?.values ?? []),
        config: {},
      },
    ];
    return { refId, fields: columns, length: columns[0]?.values.length ?? 0 };
  });
}
