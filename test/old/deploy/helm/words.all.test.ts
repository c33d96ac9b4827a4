// Only here: values that the chart should refuse, and what it says after an installation.
import { describe, expect, test } from 'vitest';
import { both, portal, renderNotes, runHelm, set, templateArgs } from '../kubernetes/render.ts';

describe('nonsense is refused', () => {
  test.each([
    [[], 'gfa.url is not set and neither is portal.url; expected at least one of them, or demo: true'],
    [
      set('portal.url=https://portal.example.com'),
      'secrets.portalServiceKey is not set and neither is secrets.existing; expected one of them, for the exporter needs PORTAL_SERVICE_KEY_FILE',
    ],
    [
      [...portal, ...set('secrets.portalServiceKey=x')],
      'secrets.portalServiceKey is set and so is secrets.existing; expected one of them',
    ],
    [[...portal, ...set('shards=0')], 'shards: Must be greater than or equal to 1'],
    [
      [...portal, ...set('shards=501')],
      'account.requests is below one request for each of 501 shards; expected fewer shards, or a longer account.window',
    ],
    [
      [...portal, ...set('serviceMonitor.enabled=true', 'podMonitor.enabled=true')],
      'serviceMonitor.enabled and podMonitor.enabled are both true; expected one of them, or every series comes twice',
    ],
    [
      [...portal, ...set('portal.url=http://portal.example.com')],
      'portal.url is an http URL of another host; expected https, or settings.ALLOW_INSECURE_UPSTREAM: true',
    ],
    [
      [...portal, ...set('shards=2', 'service.type=NodePort')],
      'service.type is NodePort but shards is 2, so that each request would reach another shard; expected shards: 1, or Services of your own in extraObjects',
    ],
    [
      [...portal, ...set('web.tls=true')],
      'web.tls is true but web.existingSecret is not set; expected the Secret that holds the web configuration',
    ],
  ])('%j: %s', (args, line) => {
    const { status, stderr } = runHelm(...templateArgs(...args));
    expect(stderr).toContain(line);
    expect(status).toBe(1);
  });

  test('every value that its schema rejects, at once', () => {
    const rejected = [
      ['shards=two', 'shards: Invalid type. Expected: integer, given: string'],
      ['shard=2', 'Additional property shard is not allowed'],
      ['settings.PORTAL_INTERVALL=5m', 'settings: Additional property PORTAL_INTERVALL is not allowed'],
      ['settings.PORTAL_INTERVAL=5mins', "settings.PORTAL_INTERVAL: Does not match pattern '^([0-9]+"],
      ['settings.LOG_LEVEL=loud', 'settings.LOG_LEVEL must be one of the following: "trace"'],
      ['settings.STALE_AFTER=two', "settings.STALE_AFTER: Does not match pattern '^[0-9]+$'"],
      ['settings.PORTAL_USER_KEY=x', 'settings: Additional property PORTAL_USER_KEY is not allowed'],
      [
        'image.pullPolicy=Sometimes',
        'image.pullPolicy must be one of the following: "Always", "IfNotPresent", "Never"',
      ],
      ['gfa.url=https://acceleration.example.com', "gfa.url: Does not match pattern '^(https?://"],
      ['portal.url=portal.example.com', "portal.url: Does not match pattern '^(https?://"],
      ['account.window=half a minute', "account.window: Does not match pattern '^([0-9]+"],
      ['service.port=80', 'service.port: Must be greater than or equal to 1024'],
      ['state.size=lots', "state.size: Does not match pattern '^[0-9]+"],
      [
        'podDisruptionBudget.maxUnavailable=half',
        "podDisruptionBudget.maxUnavailable: Does not match pattern '^[0-9]+%$'",
      ],
      ['ingress.enabled=true', 'ingress.hosts: Array must have at least 1 items'],
      ['livenessProbe.period=3', 'livenessProbe: Additional property period is not allowed'],
    ] as const;
    const { status, stderr } = runHelm(...templateArgs(...portal, ...set(...rejected.map(([pair]) => pair))));
    for (const [pair, line] of rejected) expect(stderr, pair).toContain(line);
    expect(status).toBe(1);
  });
});

test('the notes say where the pages are, and what is not switched on', () => {
  const notes = renderNotes(...both);
  expect(notes).toContain('port-forward service/fleet-filer-exporter 9989');
  expect(notes).toContain('Nothing scrapes it yet');
  expect(notes).toContain('No alert is installed');
  expect(notes).toContain('Event counters start again with each restart');
  expect(notes).toContain('Secret keys, keys gfa-token, portal-service-key, portal-service-secret.');
});
