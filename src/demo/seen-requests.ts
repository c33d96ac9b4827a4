/** One request that reached the stand-in, allowed or not. */
export interface SeenRequest {
  /** The clock's time when it had arrived whole. */
  readonly at: number;
  readonly method: string;
  /** Without the prefix of the service and without the query. */
  readonly path: string;
  /** Without the question mark; empty when there is none. */
  readonly query: string;
  readonly service: 'gfa' | 'portal';
  readonly operation: string;
  /** By name in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Undefined while there is no answer, or when there never was one. */
  readonly status: number | undefined;
}

const KEPT = 10_000;

/** The newest 10,000 requests, in the order they arrived. */
export class SeenRequests {
  readonly #seen: SeenRequest[] = [];

  get all(): readonly SeenRequest[] {
    return this.#seen;
  }

  /** Records an arrival; what it returns records the answer's status. */
  add(request: Omit<SeenRequest, 'status'>): (status: number) => void {
    const record: { -readonly [Key in keyof SeenRequest]: SeenRequest[Key] } = { ...request, status: undefined };
    this.#seen.push(record);
    if (this.#seen.length > KEPT) this.#seen.shift();
    return (status) => {
      record.status = status;
    };
  }
}
