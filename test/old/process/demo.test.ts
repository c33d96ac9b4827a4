// Only here: what somebody sees who starts the demo and knows nothing else.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { end, launch, type Program } from '../support/program.ts';
import { get, scrape } from '../support/scrape.ts';
import { until } from '../support/until.ts';

describe('the demo, in the environment of a visitor who has accounts and a proxy', () => {
  let demo: Program;
  let url: string;
  beforeAll(async () => {
    const environment = {
      GFA_URL: 'http://127.0.0.1:9/v1',
      PORTAL_URL: 'http://127.0.0.1:9',
      PORTAL_USER_KEY: 'own-user-key',
      PORTAL_NONSENSE: 'yes',
      HTTP_PROXY: 'http://127.0.0.1:9',
      http_proxy: 'http://127.0.0.1:9',
    };
    demo = launch(['--demo'], { environment });
    url = await demo.serving();
  });
  afterAll(() => end(demo));

  test('answers a scrape from its start on', async () => {
    expect((await get(`${url}/metrics`)).status).toBe(200);
  });

  test('is up on both services, ready, and says so on its pages, which name nothing of the visitor’s own', async () => {
    const whole = await until('both services to be up', async () => {
      const moment = await scrape(url);
      return moment.sum('filer_api_up') === 2 && moment;
    });
    expect(whole.value('filer_exporter_throttled_total', { api: 'portal' })).toBe(0);
    expect((await get(`${url}/readyz`)).status).toBe(200);
    expect((await get(`${url}/healthz`)).status).toBe(200);
    expect((await get(`${url}/`)).text).toContain('href="./metrics"');
    const { text } = await get(`${url}/status`);
    for (const { labels } of whole.all('filer_appliance_info')) expect(text).toContain(labels.filer);
    expect(text).not.toContain('127.0.0.1:9<');
  });

  test('says that it is made up and what to do next, and has one appliance down to be followed to its runbook', async () => {
    for (const path of ['/', '/status']) {
      const { text } = await get(`${url}${path}`);
      for (const words of [
        'simulated',
        'FilerNotCheckingIn',
        'docs/runbooks/file-acceleration.md',
        'docs/deployment.md',
      ]) {
        expect(text).toContain(words);
      }
    }
    const whole = await until('every appliance to be polled', async () => {
      const moment = await scrape(url);
      return moment.all('filer_appliance_up').length === 12 && moment.sum('filer_appliance_up') === 11 && moment;
    });
    expect(whole.sum('filer_api_up')).toBe(2);
  });
});
