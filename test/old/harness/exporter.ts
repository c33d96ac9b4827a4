import type { App } from '../../src/app/app.ts';
import { createLog } from '../../src/runtime/log.ts';
import { assemble, type Given } from '../support/assemble.ts';
import type { LogLine } from '../support/program.ts';
import { Scrape } from '../support/scrape.ts';
import { type Page, pageOf } from './page.ts';

/** Of the looks at `/metrics` one in so many is read strictly. */
const STRICT_EACH = 10;

/** An exporter in this process: the whole program but for the process, as variables configure it. */
export class Exporter {
  readonly app: App;
  readonly #log: LogLine[] = [];
  readonly #through: (work: Promise<void>) => Promise<void>;
  #url = '';
  #looks = 0;
  #stopping: Promise<void> | undefined;

  /** `through` lets the time pass that a stop takes; `tells` is called with each line of the log. */
  constructor(
    variables: Readonly<Record<string, string>>,
    given: Omit<Given, 'log'>,
    through: (work: Promise<void>) => Promise<void>,
    tells: (line: LogLine) => void = () => {},
  ) {
    const write = (text: string) => {
      const line = JSON.parse(text) as LogLine;
      this.#log.push(line);
      tells(line);
    };
    this.app = assemble(variables, { log: createLog(variables.LOG_LEVEL ?? 'info', { write }), ...given });
    this.#through = through;
  }

  /** Where it serves, once it has started. */
  get url(): string {
    return this.#url;
  }

  /** The lines of its log so far. */
  get log(): readonly LogLine[] {
    return this.#log;
  }

  async start(): Promise<void> {
    this.#url = `http://127.0.0.1:${await this.app.start()}`;
  }

  /** A page of it, without a connection. */
  page(path: string): Promise<Page> {
    return pageOf(this.app, path);
  }

  async scrape(): Promise<Scrape> {
    this.#looks += 1;
    return new Scrape((await this.page('/metrics')).text, this.#looks % STRICT_EACH === 0);
  }

  /** It is asked to stop, once; resolves when it has, for which the clock has to move. */
  stopping(): Promise<void> {
    this.#stopping ??= this.app.stop();
    return this.#stopping;
  }

  /** It stops, and the time passes that this takes. */
  stop(): Promise<void> {
    return this.#through(this.stopping());
  }
}
