import { type DemoResponse, json, type Scene } from '../../exchange.ts';
import { type Notice, noticesBetween } from '../../world/notices.ts';
import { HOUR_MS, MINUTE_MS, rfc3339 } from '../../world/waveforms.ts';
import { type Item, item, worded } from '../item.ts';
import { type DemoOperation, get } from '../operation.ts';
import { integer, moment, text, truth, uuid, word, words } from '../query.ts';
import { CATEGORIES, SEVERITIES, SUB_CATEGORIES } from './notification-words.ts';

const USUAL = { windowMs: 15 * MINUTE_MS, limit: 50 } as const;
const MAX_MS = 30 * 24 * HOUR_MS;

const SORTS = ['generated_at', 'severity', 'category', 'appliance_name', 'volume_name'] as const;

/** `GET /notifications`. */
export const notificationOperations: readonly DemoOperation[] = [
  get('notifications', '/notifications', notifications, {
    start_date: moment,
    end_date: moment,
    severity: words(SEVERITIES),
    category: word(CATEGORIES),
    sub_category: word(SUB_CATEGORIES),
    appliance_name: text,
    volume_name: text,
    search: text,
    limit: integer(),
    iterator_id: uuid,
    page: integer(),
    sort_by: word(SORTS),
    sort_direction: word(['asc', 'desc']),
    include_count: truth,
  }),
];

function notifications(scene: Scene): DemoResponse {
  const { request, now } = scene;
  const { query } = request;
  const end = instant(query.get('end_date')) ?? now;
  const start = instant(query.get('start_date')) ?? now - USUAL.windowMs;
  if (Number(query.get('limit') ?? USUAL.limit) <= 0) return rejected('The limit must be above 0');
  if (Number(query.get('page') ?? 1) < 1) return rejected('The page must be above 0');
  if (end - start > MAX_MS) return rejected('The date range is longer than 30 days');
  const page = scene.cursors.page(scene.request.path, scene.request.query, () => found(scene, start, end), USUAL.limit);
  return typeof page === 'string' ? rejected(page) : json(200, page);
}

/** The errors of this operation have only a message. */
function rejected(message: string): DemoResponse {
  return json(400, { message });
}

function instant(text: string | null): number | undefined {
  return text === null ? undefined : Date.parse(text);
}

function found(scene: Scene, start: number, end: number): readonly Item[] {
  const { query } = scene.request;
  const is = (name: string, value: unknown) =>
    query.getAll(name).length === 0 || query.getAll(name).includes(String(value));
  const search = query.get('search')?.toLowerCase() ?? '';
  const items = noticesBetween(scene.world, start - 1, Math.min(end, scene.now))
    .map((notice) => toItem(scene, notice))
    .filter((one) => is('severity', one.severity) && is('category', one.category))
    .filter((one) => is('sub_category', one.sub_category))
    .filter((one) => is('appliance_name', one.appliance_name) && is('volume_name', one.volume_name))
    .filter((one) => String(one.message).toLowerCase().includes(search));
  const by = query.get('sort_by') ?? 'generated_at';
  const turn = query.get('sort_direction') === 'asc' ? 1 : -1;
  return items.toSorted((one, other) => turn * String(one[by] ?? '').localeCompare(String(other[by] ?? '')));
}

function toItem({ world, variations }: Scene, notice: Notice): Item {
  const { id, at, severity, category, subCategory, codeName, message, applianceName, volumeName } = notice;
  const generated = rfc3339(at, variations.fractionalTimestamps);
  return item(
    id,
    {
      id,
      account_id: world.account,
      severity: worded(id, severity, 'NOTICE', variations),
      code_name: codeName,
      message,
      created_at: generated,
      generated_at: generated,
    },
    {
      category: worded(id, category, 'Quantum Storage', variations),
      sub_category: subCategory,
      source: 'SYSTEM_GENERATED',
      appliance_name: applianceName,
      volume_name: volumeName,
      arguments: null,
      linked_doc: null,
    },
    variations,
  );
}
