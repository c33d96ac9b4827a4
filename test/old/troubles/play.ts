import { visit } from '../doctor/simulated-visit.ts';
import { World } from '../harness/world.ts';
import { isAtLeast } from '../support/program.ts';
import { gfaEnvironment, portalEnvironment } from '../support/real-services.ts';
import { arrivals, type Samples, samplesOf } from './alerts.ts';
import type { Trouble } from './rows.ts';

/** Between two looks: the default of PORTAL_INTERVAL, in minutes and milliseconds. */
export const INTERVAL = 5;
const INTERVAL_MS = INTERVAL * 60_000;

/** How long the daemon is well before the trouble begins, and how long it lasts, in looks. */
const WELL = 7;
const TROUBLED = 15;

/** The metrics that tell an operator how things stand. */
const TELLING = [
  ...['filer_api_up', 'filer_api_down_info', 'filer_appliance_up', 'filer_appliance_state'],
  ...['filer_exporter_inventory_gap_info', 'filer_exporter_tasks_suspended', 'filer_exporter_upstream_variant_info'],
  ...['filer_exporter_account_throttled', 'filer_exporter_client_key_shared', 'filer_exporter_clock_skew_seconds'],
];

/** What is told, and how many intervals after the trouble began. */
export interface Told {
  readonly text: string;
  readonly after: number;
}

/** Everything that was told of one trouble. */
export interface Played {
  readonly metrics: readonly Told[];
  readonly log: readonly Told[];
  readonly page: readonly Told[];
  readonly alerts: readonly Told[];
  readonly doctor: readonly string[];
}

interface Moment {
  readonly samples: Samples;
  readonly fragments: ReadonlySet<string>;
}

interface Lived {
  readonly startedAt: number;
  readonly moments: readonly Moment[];
  readonly log: readonly (Told & { readonly isWarning: boolean })[];
}

/** A daemon with the defaults, both services and four appliances lives for some hours. */
async function live(trouble: Trouble | undefined): Promise<Lived> {
  const world = await World.begin({ appliances: 4, later: true });
  const { clock, services: mocks } = world;
  const { PORTAL_URL = '', PORTAL_SERVICE_KEY = '', PORTAL_SERVICE_SECRET = '' } = portalEnvironment(mocks);
  const { GFA_URL = '', GFA_TOKEN = '' } = gfaEnvironment(mocks);
  const environment = { PORTAL_URL, PORTAL_SERVICE_KEY, PORTAL_SERVICE_SECRET, GFA_URL, GFA_TOKEN };
  const daemon = await world.exporter({ ...environment, ALLOW_INSECURE_UPSTREAM: 'true' });
  const moments: Moment[] = [];
  const startedAt = clock.now() + INTERVAL_MS;
  const lines: (Told & { isWarning: boolean })[] = [];
  for (let look = -WELL; look < TROUBLED; look += 1) {
    if (look === 0 && trouble !== undefined) {
      if (trouble.variations !== undefined) mocks.vary(trouble.variations);
      trouble.before?.(mocks);
      if (trouble.hasAnother)
        await world.exporter({ ...gfaEnvironment(mocks), GFA_CLIENT_KEY: 'another', GFA_INTERVAL: '45s' });
    }
    await clock.advance(INTERVAL_MS);
    const page = (await daemon.page('/status')).text;
    moments.push({ samples: samplesOf(await daemon.scrape()), fragments: fragmentsOf(page) });
    for (const { msg, level, ...fields } of daemon.log.slice(lines.length)) {
      const about = 'filer' in fields ? ' (filer)' : '';
      lines.push({ text: `${msg}${about}`, after: look + 1, isWarning: isAtLeast(level, 'warn') });
    }
  }
  return { startedAt, moments, log: lines };
}

/** The texts of a page, without what changes by itself. */
function fragmentsOf(page: string): ReadonlySet<string> {
  const body = page.replaceAll(/<(style|script)[\s\S]*?<\/\1>/g, '');
  const texts = body.split(/<[^>]*>/).map((text) => text.trim().replace(/^· /, ''));
  return new Set(texts.filter((text) => /[a-z]{3}/.test(text) && !CHANGING.test(text)));
}

/** Ages, addresses, the pace, and the names of series, of which another one is the latest each time. */
const CHANGING = /\bago\b|^[\d.]+ requests a second|^median|^http:|^\w+$|\bUTC\b|\d\d:\d\d/;

/** A life without a trouble, and the alerts that arrive in it. */
const healthy = once(async () => {
  const well = await live(undefined);
  return { well, usual: new Set(firedBy(well, new Set()).map(({ text }) => text)) };
});

function once<Result>(make: () => Promise<Result>): () => Promise<Result> {
  let made: Promise<Result> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/** Plays a trouble beside a life without one, and the doctor's visit. */
export async function play(trouble: Trouble): Promise<Played> {
  const { well, usual } = await healthy();
  const ill = await live(trouble);
  const { found } = await visit({
    ...(trouble.variations !== undefined && { variations: trouble.variations }),
    ...(trouble.before !== undefined && { before: trouble.before }),
    environment: { PORTAL_SERIES: undefined, PORTAL_COLLECTORS: undefined },
  });
  // One appliance of the simulated fleet is off from the start.
  const known = new Set(well.log.filter(({ after }) => after > 0).map(({ text }) => text));
  return {
    metrics: firstChanges(well, ill),
    log: firsts(ill.log.filter(({ isWarning, after, text }) => isWarning && after > 0 && !known.has(text))),
    page: firsts(
      ill.moments
        .slice(WELL)
        .flatMap(({ fragments }, index) =>
          [...fragments]
            .filter((text) => !well.moments.some((moment) => moment.fragments.has(text)))
            .map((text) => ({ text, after: index + 1 })),
        ),
    ),
    alerts: firedBy(ill, usual),
    doctor: found.findings
      .filter(({ level }) => level !== 'ok')
      .map(({ observed, advice }) => (advice === undefined ? observed : `${observed}; do: ${advice}`)),
  };
}

function firsts(told: readonly Told[]): readonly Told[] {
  return told.filter(({ text }, index) => told.findIndex((one) => one.text === text) === index);
}

function firstChanges(well: Lived, ill: Lived): readonly Told[] {
  const changes = ill.moments.slice(WELL).flatMap(({ samples }, index) => {
    const before = well.moments[WELL + index]?.samples ?? new Map<string, number>();
    return [...new Set([...samples.keys(), ...before.keys()])]
      .filter(
        (series) =>
          TELLING.some((name) => series.startsWith(`${name}{`)) && isOther(samples.get(series), before.get(series)),
      )
      .flatMap((series) => {
        const value = samples.get(series);
        return value === undefined ? [] : [{ text: `${shortOf(series)} ${Math.round(value)}`, after: index + 1 }];
      });
  });
  return firsts([...changes, ...lostFamilies(well, ill)]);
}

/** Clocks differ by a part of a second in any case. */
function isOther(value: number | undefined, before: number | undefined): boolean {
  return value === undefined || before === undefined ? value !== before : Math.abs(value - before) >= 1;
}

/** The families of filers and volumes of which no sample is left. */
function lostFamilies(well: Lived, ill: Lived): readonly Told[] {
  const familiesOf = ({ samples }: Moment) => new Set([...samples.keys()].map((series) => series.split('{')[0] ?? ''));
  return ill.moments.slice(WELL).flatMap((moment, index) => {
    const left = familiesOf(moment);
    const usual = familiesOf(well.moments[WELL + index] ?? moment);
    return [...usual]
      .filter((name) => /^filer_(?!exporter_|api_)/.test(name) && !left.has(name))
      .map((name) => ({ text: `${name}: no sample`, after: index + 1 }));
  });
}

/** Without what only names the appliance. */
function shortOf(series: string): string {
  return series
    .replaceAll(/(?:serial|filer|volume|volume_guid|filer_guid)="[^"]*",?/g, '')
    .replace(/,?\}$/, '}')
    .replace('{}', '');
}

/** The alerts that arrive, and when each began to; those of `known` left out. */
function firedBy({ startedAt, moments }: Lived, known: ReadonlySet<string>): readonly Told[] {
  const looks = moments.map(({ samples }) => samples);
  const fired = arrivals(looks, INTERVAL, startedAt).flatMap((alerts, look) =>
    alerts.map(({ alertname: text = '' }) => ({ text, after: look - WELL + 1 })),
  );
  return firsts(fired.filter(({ text }) => !known.has(text)));
}
