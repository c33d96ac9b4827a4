import { type DemoResponse, json, portalError, type Scene } from '../../exchange.ts';
import { confidentialOf } from '../../world/confidential.ts';
import { draw, floorTo, HOUR_MS, rfc3339, uuidOf } from '../../world/waveforms.ts';
import type { Item } from '../item.ts';
import { type DemoOperation, get } from '../operation.ts';
import { integer, moment, text, uuid, word } from '../query.ts';

const USUAL = { limit: 500, windowMs: 7 * 24 * HOUR_MS } as const;
const ACTIONS = ['Authorized Login', 'Authorized Logout', 'Snapshot Started', 'Cloud Credential Updated'] as const;
const SORTS = ['timestamp', 'action', 'target', 'target_description', 'initiated_by'];

/** The actions of people. The exporter does not request them; docs/adding.md adds a collector that does. */
export const activityLogOperations: readonly DemoOperation[] = [
  get('activity_logs', '/activity-logs/records', listed, {
    start_date: moment,
    end_date: moment,
    user_id: uuid,
    target: word(['Portal', 'Edge', 'File IQ', 'Stack']),
    action: text,
    transaction_id: uuid,
    search: text,
    limit: integer(1),
    iterator_id: uuid,
    page: integer(1),
    sort_by: word(SORTS),
    sort_direction: word(['ascending', 'descending']),
  }),
];

function listed(scene: Scene): DemoResponse {
  const { query } = scene.request;
  const [start, end] = [query.get('start_date'), query.get('end_date')];
  const from = start === null ? scene.now - USUAL.windowMs : Date.parse(start);
  const to = Math.min(scene.now, end === null ? scene.now : Date.parse(end));
  const page = scene.cursors.page(scene.request.path, scene.request.query, () => records(scene, from, to), USUAL.limit);
  return typeof page === 'string' ? portalError(400, page) : json(200, page);
}

/** One record an hour, newest first. */
function records({ world }: Scene, from: number, to: number): readonly Item[] {
  const found: Item[] = [];
  for (let at = floorTo(to, HOUR_MS); at >= from; at -= HOUR_MS) {
    const place = Math.floor(draw(world.seed, at, 'activity') * ACTIONS.length);
    found.push({
      id: uuidOf(world.seed, 'activity', at),
      transaction_id: null,
      target: { type: 'Portal' },
      action: ACTIONS[place],
      summary: ACTIONS[place],
      timestamp: rfc3339(at),
      key: null,
      roles: [],
      user: { id: uuidOf(world.seed, 'user', 0), name: confidentialOf(world.seed).usernames[0] },
      source_ip: '192.0.2.9',
      details: null,
    });
  }
  return found;
}
