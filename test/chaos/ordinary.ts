import type { StandIn } from '../../src/demo/stand-in.ts';
import type { Random } from '../../src/runtime/random.ts';
import type { Editor } from '../support/edits.ts';
import { INTERVAL_MS } from './told.ts';
import type { Trouble } from './trouble.ts';

type Fields = Readonly<Record<string, unknown>>;

const DAY_MS = 86_400_000;

const DATA = /\/gfa\/v1\/data/;

/** What services do in ordinary life, drawn by chance: every answer is well formed, and says something unusual. */
export function ordinaryTroubleOf(
  random: Random,
  standIn: StandIn,
  editor: Editor,
): Trouble & { readonly begin: () => () => void } {
  const all = standIn.fleet.appliances.map(({ serial }) => serial);
  const off = all.filter((_, index) => index % 2 === Number(random() < 0.5));
  const kinds: readonly (Trouble & { readonly begin: () => () => void })[] = [
    {
      name: 'filers are named one an answer',
      ...{ touches: 'gfa', echoMs: 0 },
      begin: () => {
        let answers = 0;
        return editFilers(editor, (filers) => {
          answers += 1;
          const guids = [...new Set(filers.map(({ filer_guid }) => filer_guid))];
          return filers.filter(({ filer_guid }) => filer_guid === guids[answers % guids.length]);
        });
      },
    },
    {
      name: 'filers are dated a day ahead',
      ...{ touches: 'gfa', echoMs: 0 },
      begin: () => editFilers(editor, (filers) => filers.map(aDayAhead)),
    },
    {
      name: `no records of ${off.join(' ')}`,
      ...{ touches: { serials: off }, echoMs: 0 },
      begin: () =>
        editor.add({
          path: new RegExp(`/telemetry/appliances/(?:${off.join('|')})/`),
          change: (body) => (isList(body) ? { ...body, items: [] } : body),
        }),
    },
    {
      name: 'the list of appliances is empty once',
      ...{ touches: 'account', echoMs: 0 },
      begin: () => standIn.fail({ kind: 'body', body: '{"items":[]}', operation: 'serials', times: 1 }),
    },
    {
      name: 'the token is revoked, and its service answers 503 once',
      ...{ touches: 'account', echoMs: 0 },
      begin: () => {
        const lifts = [
          standIn.fail({ kind: 'status', status: 401, operation: /^(?:cpu_utilization|load_average)$/, times: 1 }),
          standIn.fail({ kind: 'status', status: 503, operation: /^(?:token|refresh)$/, times: 1 }),
        ];
        return () => {
          for (const lift of lifts) lift();
        };
      },
    },
    {
      name: 'the licence has lapsed',
      touches: {
        get serials() {
          return standIn.fleet.appliances.map(({ serial }) => serial);
        },
      },
      echoMs: INTERVAL_MS,
      begin: () => {
        standIn.vary({ opsIqPremium: false });
        return () => standIn.vary({ opsIqPremium: true });
      },
    },
  ];
  return kinds[Math.floor(random() * kinds.length)] as (typeof kinds)[number];
}

function editFilers(editor: Editor, change: (filers: readonly Fields[]) => readonly Fields[]): () => void {
  const part = (one: unknown) =>
    isFields(one) && Array.isArray(one.filers) ? { ...one, filers: change(one.filers as readonly Fields[]) } : one;
  return editor.add({
    path: DATA,
    change: (body) => {
      if (!isFields(body)) return body;
      const { metrics } = body;
      return { ...body, metrics: Array.isArray(metrics) ? metrics.map(part) : part(metrics) };
    },
  });
}

function aDayAhead(record: Fields): Fields {
  return { ...record, timestamp: new Date(Date.parse(String(record.timestamp)) + DAY_MS).toISOString() };
}

function isList(body: unknown): body is Fields {
  return isFields(body) && Array.isArray(body.items);
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
