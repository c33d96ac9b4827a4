import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

/** Changes what a service answers to requests of which the path fits. */
export interface Edit {
  readonly path: RegExp;
  /** The answer in the place of the one given; undefined for none ever. */
  readonly change: (body: unknown, request: { readonly path: string }) => unknown;
}

/** A listener in front of another one, which changes what that one answers with 200. */
export class Editor {
  readonly #edits = new Set<Edit>();
  readonly serve: RequestListener;

  constructor(listener: RequestListener) {
    this.serve = (request, response) => listener(request, this.#edited(request, response));
  }

  /** Adds an edit; what it returns takes it away. */
  add(edit: Edit): () => void {
    this.#edits.add(edit);
    return () => void this.#edits.delete(edit);
  }

  #edited(request: IncomingMessage, response: ServerResponse): ServerResponse & { req: IncomingMessage } {
    const path = request.url ?? '';
    let head: readonly [number, Readonly<Record<string, unknown>>] = [200, {}];
    const own = {
      writeHead: (status: number, headers: Readonly<Record<string, unknown>> = {}) => {
        head = [status, headers];
      },
      end: (chunk?: Uint8Array) => {
        // The rest of an answer that came in pieces.
        if (chunk === undefined) {
          response.end();
          return;
        }
        const [status, headers] = head;
        const edits = status === 200 ? [...this.#edits].filter((edit) => edit.path.test(path)) : [];
        let body: Uint8Array = chunk;
        if (edits.length > 0) {
          const told: unknown = JSON.parse(Buffer.from(chunk).toString('utf8'));
          body = Buffer.from(JSON.stringify(edits.reduce((answer, { change }) => change(answer, { path }), told)));
        }
        response.writeHead(status, { ...headers, 'content-length': body.length } as Record<string, string | number>);
        response.end(body);
      },
      flushHeaders: () => {
        response.writeHead(head[0], head[1] as Record<string, string>);
        response.flushHeaders();
      },
    };
    return new Proxy(response, {
      get(target, name) {
        if (name in own) return own[name as keyof typeof own];
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    }) as ServerResponse & { req: IncomingMessage };
  }
}
