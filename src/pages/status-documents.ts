import { readFileSync } from 'node:fs';
import type { Clock } from '../runtime/clock.ts';
import { getOrCreate } from '../runtime/maps.ts';
import { runInSlices } from '../runtime/slices.ts';
import type { StatusReport } from '../status/model.ts';
import { roundToThousandth } from '../status/time-text.ts';
import { Page } from '../web/responses.ts';
import type { Html } from './html.ts';
import { statusPage } from './status-page.ts';

/** Requests within this time, in milliseconds, share one page: many readers of a large fleet cost no more than one. */
const SHARED_MS = 1_000;

/** The script of the status page, without the compiler's line about a source map. */
const SCRIPT = readFileSync(new URL('./browser/status.js', import.meta.url), 'utf8').replace(
  /^\/\/# sourceMappingURL=.*\n?/m,
  '',
);

/** The status as HTML and as JSON, built on request and in slices. */
export class StatusDocuments {
  readonly #report: () => Promise<StatusReport>;
  readonly #clock: Clock;
  readonly #notice: Html | undefined;
  #made:
    | {
        readonly at: number;
        readonly report: Promise<StatusReport>;
        readonly documents: Map<string, Promise<Page>>;
      }
    | undefined;

  /** `report` returns the present status. */
  constructor(report: () => Promise<StatusReport>, clock: Clock, notice?: Html) {
    this.#report = report;
    this.#clock = clock;
    this.#notice = notice;
  }

  /** Returns the page for a query. Only the page without a query is kept, because there are any number of queries. */
  page(query = ''): Promise<Page> {
    const make = (report: StatusReport) => statusPage(report, { script: SCRIPT, notice: this.#notice, query });
    const { report, documents } = this.#current();
    return query === ''
      ? getOrCreate(documents, 'page', () => this.#document(report, make))
      : this.#document(report, make);
  }

  json(): Promise<Page> {
    const { report, documents } = this.#current();
    return getOrCreate(documents, 'json', () => this.#document(report, statusJson));
  }

  async #document(report: Promise<StatusReport>, make: (report: StatusReport) => Generator<void, Page>): Promise<Page> {
    return runInSlices(make(await report), this.#clock);
  }

  #current() {
    const now = this.#clock.monotonic();
    if (this.#made === undefined || now - this.#made.at >= SHARED_MS) {
      this.#made = { at: now, report: this.#report(), documents: new Map() };
    }
    return this.#made;
  }
}

/** The number of appliances that one step writes into one buffer. */
const APPLIANCES_PER_STEP = 100;

/** A report as JSON; yields where it may be interrupted. */
export function* statusJson({ appliances, ...rest }: StatusReport): Generator<void, Page> {
  const head = JSON.stringify(rest, (_, value) => (typeof value === 'number' ? roundToThousandth(value) : value));
  let text = `${head.slice(0, -1)},"appliances":[`;
  for (let index = 0; index < appliances.length; index += APPLIANCES_PER_STEP) {
    const some = JSON.stringify(appliances.slice(index, index + APPLIANCES_PER_STEP)).slice(1, -1);
    text += index === 0 ? some : `,${some}`;
    yield;
  }
  return new Page({ 'content-type': 'application/json; charset=utf-8' }, `${text}]}\n`);
}
