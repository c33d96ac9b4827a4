/** One request that reached the mock services, allowed or not. */
export interface SeenRequest {
  /** The time by the clock when the whole request had arrived. */
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
  /** Undefined as long as there is no response. */
  readonly status: number | undefined;
}

const KEPT = 10_000;

/** The newest 10,000 requests, in the order they arrived. */
export class SeenRequests {
  readonly #seen: SeenRequest[] = [];

  get all(): readonly SeenRequest[] {
    return this.#seen;
  }

  /** Records a request, and returns the function that records the status of its response. */
  add(request: Omit<SeenRequest, 'status'>): (status: number) => void {
    const record: { -readonly [Key in keyof SeenRequest]: SeenRequest[Key] } = { ...request, status: undefined };
    this.#seen.push(record);
    if (this.#seen.length > KEPT) this.#seen.shift();
    return (status) => {
      record.status = status;
    };
  }
}
