import { afterEach, describe, expect, test } from 'vitest';
import type { StandIn } from '../../src/demo/stand-in.ts';
import { exporter, gfaEnvironment, type Live, portalEnvironment, services, until } from '../support/live.ts';
import { isAtLeast } from '../support/program.ts';

const SERIES = 'cpu_utilization';

/** Bodies that no service should send with a 200. */
const bodies: Readonly<Record<string, string>> = {
  'a page of a proxy': '<!doctype html><title>Sign in</title>',
  nothing: '',
  'half an object': '{"items": [{"time": 1',
  null: 'null',
  'a number': '42',
  'a text': '"items"',
  'a list': '[]',
  'an object without anything': '{}',
  'a list in the place of an object': '{"items": {}, "info": [], "metrics": 7}',
  'records that are none': '{"items": [null, 1, "x", [], {}], "info": {}, "metrics": [null]}',
  'groups that are no lists':
    '{"info": {}, "metrics": [{"filers": 1, "volumes": {}, "locks": "x", "propagation": true}]}',
  'names of the language’s own':
    '{"__proto__": {"items": []}, "constructor": 1, "toString": null, "metrics": {"__proto__": []}}',
  'bytes that are no UTF-8': '\ud800{"items":[]}',
};

describe('an answer with 200 and a body that is none', () => {
  test('leaves the values of before standing, and the neighbours alone', async () => {
    const { standIn, live } = await whole(Object.keys(bodies).length + 1);
    const serials = standIn.fleet.appliances.map(({ serial }) => serial);
    for (const [index, body] of Object.values(bodies).entries()) {
      standIn.fail({ kind: 'body', body, contentType: 'text/html', operation: SERIES, serial: serials[index] ?? '' });
    }
    const polls = asked(standIn, 'load_average');
    await until(
      'all to have been answered so twice',
      () => asked(standIn, 'load_average') >= polls + 3 * serials.length,
    );
    const after = await live.scrape();
    expect(after.value('filer_api_up', { api: 'portal' })).toBe(1);
    expect(after.sum('filer_appliance_up')).toBe(serials.length);
    const without = serials.filter((serial) => after.all('filer_appliance_load_average', { serial }).length !== 3);
    expect(without).toEqual([]);
    const { length } = after.all('filer_appliance_cpu_utilization_ratio');
    // A list of records is an answer, and when none of them can be used there is no value any more.
    expect(length).toBe(serials.length - 1);
    expect(after.sum('filer_exporter_requests_total', { operation: SERIES, code: 'invalid' })).toBeGreaterThan(0);
    expect(defects(live)).toEqual([]);
  });

  test('leaves the events counted and the volumes known', async () => {
    const { standIn, live } = await whole(2, { GFA_INTERVAL: '4s' });
    const before = await live.scrape();
    for (const body of Object.values(bodies)) standIn.fail({ kind: 'body', body, operation: 'data', times: 1 });
    const polls = asked(standIn, 'data');
    await until(
      'all of them to have been the answer',
      () => asked(standIn, 'data') > polls + Object.keys(bodies).length,
    );
    const after = await until('it to be up again', async () => {
      const scrape = await live.scrape();
      return scrape.value('filer_api_up', { api: 'gfa' }) === 1 && scrape;
    });
    const events = (scrape: typeof after) => scrape.sum('filer_lock_events_total');
    expect(events(after)).toBeGreaterThanOrEqual(events(before));
    expect(after.all('filer_volume_info')).toHaveLength(2);
    expect(defects(live)).toEqual([]);
  });
});

describe('a title', () => {
  const titles: Readonly<Record<string, string>> = {
    'with quotes, backslashes and line feeds': 'a "b" \\ c\nd\\n\\',
    'that tries to be a sample': 'x"} 1\nfiler_api_up{api="evil"} 1\n# EOF',
    'with emoji and half of one': '📁 büro \ud83d',
    'with control characters': 'a\tb\rc\u0000d\u001b[31m',
    'that is markup': '<script>alert(1)</script>',
    'with a name of the language’s own': '__proto__',
  };

  test('is a label like any other, with any text in it', async () => {
    const { standIn, live } = await whole(Object.keys(titles).length, {}, Object.keys(titles).length);
    const { appliances, volumes } = standIn.fleet;
    for (const [index, title] of Object.values(titles).entries()) {
      standIn.renameAppliance(appliances[index]?.serial ?? '', title);
      standIn.renameVolume(volumes[index]?.guid ?? '', title);
    }
    const told = Object.values(titles).map((title) => title.toWellFormed().replace('\0', '\ufffd'));
    const after = await until('the titles', async () => {
      const scrape = await live.scrape();
      const filers = new Set(scrape.all('filer_appliance_cpu_utilization_ratio').map(({ labels }) => labels.filer));
      const known = new Set(scrape.all('filer_volume_info').map(({ labels }) => labels.volume));
      return told.every((title) => filers.has(title) && known.has(title)) && scrape;
    });
    expect(after.all('filer_appliance_up')).toHaveLength(appliances.length);
    expect(after.all('filer_api_up').map(({ labels }) => labels.api)).toEqual(['gfa', 'portal']);
    expect((await live.get('/status')).text).not.toContain('<script>');
    expect(defects(live)).toEqual([]);
  });
});

const rejected: unknown[] = [];
process.on('unhandledRejection', (reason) => rejected.push(reason));
afterEach(() => {
  expect(rejected.splice(0)).toEqual([]);
});

/** An exporter that has polled everything of both services once. */
async function whole(appliances = 2, more: Readonly<Record<string, string>> = {}, volumes = 2) {
  const standIn = await services({ appliances, volumes });
  const environment = { ...gfaEnvironment(standIn), ...portalEnvironment(standIn), STALE_AFTER: '50', ...more };
  const live = await exporter(environment);
  await until('every series and both services to be up', async () => {
    const scrape = await live.scrape();
    const { length } = scrape.all('filer_appliance_series_timestamp_seconds');
    return scrape.sum('filer_api_up') === 2 && length === 2 * appliances;
  });
  return { standIn, live, serial: standIn.fleet.appliances[0]?.serial ?? '' };
}

/** What the log has of defects: errors that are not the program's own have a stack. */
function defects(live: Live) {
  return live.log.filter((line) => isAtLeast(line.level, 'error') || JSON.stringify(line).includes('"stack"'));
}

function asked(standIn: StandIn, operation: string): number {
  return standIn.requests.filter((request) => request.operation === operation).length;
}
