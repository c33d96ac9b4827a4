import type { App } from '../../src/app/app.ts';
import type { ResponseBody } from '../../src/exposition/body.ts';

/** A page as somebody gets it. */
export interface Page {
  readonly status: number;
  readonly text: string;
}

/** A page of an exporter in this process, without a connection: what the server sends, before it sends it. */
export async function pageOf({ pages }: App, path: string): Promise<Page> {
  switch (path) {
    case '/metrics': {
      return { status: 200, text: textOf(await pages.exposition('text', false)) };
    }
    case '/readyz':
      return { status: pages.ready() ? 200 : 503, text: '' };
    case '/status':
    case '/api/v1/status': {
      const document = await (path === '/status' ? pages.statusPage('') : pages.statusJson());
      return { status: 200, text: textOf(await document.body(false)) };
    }
    default:
      throw new Error(`${path} is looked at through a connection only`);
  }
}

function textOf(body: ResponseBody): string {
  const copies: Buffer[] = [];
  // The next one may overwrite the one before.
  for (const buffer of body.buffers()) copies.push(Buffer.from(buffer));
  return Buffer.concat(copies).toString('utf8');
}
