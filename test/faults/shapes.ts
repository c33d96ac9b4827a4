import { type Effect, shape, spoilt, unusable } from './effects.ts';
import type { OperationName } from './row.ts';

/** JSON that is of another shape at some level, and of the right shape with nothing to use in it. */
export const shapes: Readonly<Record<OperationName, readonly Effect[]>> = {
  token: tokenShapes(),
  serials: listShapes('id'),
  edges: listShapes('serial'),
  data: [
    shape('nothing in the object', '{}'),
    shape('info is a list', '{"info":[],"metrics":[]}'),
    shape('metrics are a number', '{"info":{},"metrics":7}'),
    shape('metrics hold a number', '{"info":{},"metrics":[{},7]}'),
    ...['filers', 'volumes', 'locks', 'propagation'].map((group) =>
      shape(`${group} are no list`, `{"info":{},"metrics":[{"${group}":{}}]}`),
    ),
    unusable('records that are none', 'record', () => '{"info":{},"metrics":[{"filers":[null,7],"locks":["x",[]]}]}'),
  ],
  series: [
    shape('nothing in the object', '{}'),
    shape('items are an object', '{"items":{}}'),
    shape('items are null', '{"items":null}'),
    shape('items are a text', '{"items":"none"}'),
    unusable('records that are none', 'record', () => '{"items":[null,7,"x",[],{}]}'),
    unusable('a time that is none', 'record', () => '{"items":[{"time":{},"cpu_usage":"1"},{"time":"soon"}]}'),
    unusable('a value that is an object', 'invalid', () => `{"items":[{"time":${Date.now()},"cpu_usage":{}}]}`),
    unusable('a value that is null', 'absent', () => `{"items":[{"time":${Date.now()},"cpu_usage":null}]}`),
    unusable('a value as deep as it is long', 'invalid', () => {
      const deep = '['.repeat(50_000) + ']'.repeat(50_000);
      return `{"items":[{"time":${Date.now()},"cpu_usage":${deep}}]}`;
    }),
  ],
};

function tokenShapes(): readonly Effect[] {
  return [
    shape('nothing in the object', '{}'),
    shape('the token is a number', '{"access_token":7,"expires_in":60}'),
    shape('the token is empty', '{"access_token":"","expires_in":60}'),
    shape('the token is an object', '{"access_token":{"a":"b"}}'),
    shape('the token has line breaks', '{"access_token":"a\\r\\nx-evil: 1","expires_in":900}'),
    spoilt('a lifetime that is a text', (answer) => ({ ...answer, expires_in: 'for ever' })),
  ];
}

function listShapes(key: string): readonly Effect[] {
  return [
    shape('items are an object', '{"items":{}}'),
    shape('items are a text', '{"items":"none"}'),
    shape('records that are none', '{"items":[null,7,"x",[]]}'),
    shape('records without a serial', `{"items":[{"${key}":7},{"${key}":null},{}]}`),
    {
      ...spoilt('one record that is none', (answer) => {
        const items = Array.isArray(answer.items) ? (answer.items as readonly unknown[]) : [];
        return { ...answer, items: items.length === 0 ? [] : [null, ...items] };
      }),
      dropped: 'record',
    },
  ];
}
