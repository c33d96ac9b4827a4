import type { Config } from '../config/config.ts';
import type { Scrapes } from '../exposition/scrapes.ts';
import type { Site } from '../http/server.ts';
import { landingPage } from '../pages/landing-page.ts';
import { noticeHtml } from '../pages/notice.ts';
import { PublishedStatus } from '../pages/published.ts';
import { report } from '../status/report.ts';
import type { Environment } from './environment.ts';
import type { Source } from './source.ts';

export function siteOf(
  scrapes: Scrapes,
  sources: readonly Source[],
  { shard, web }: Config,
  environment: Environment,
): Site {
  const { version, clock } = environment;
  const notice = environment.notice && noticeHtml(environment.notice);
  const status = new PublishedStatus(() => report(sources, shard, environment), clock, notice);
  const landing = landingPage(version, web.metricsPath, notice);
  return {
    exposition: (format, coding) => scrapes.body(format, coding),
    ready: () => sources.every(({ poller, hasHadTrouble }) => poller.observer.polledOnce || hasHadTrouble()),
    statusPage: () => status.page(),
    statusJson: () => status.json(),
    landingPage: () => Promise.resolve(landing),
  };
}
