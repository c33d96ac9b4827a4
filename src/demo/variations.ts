/** The spelling of the load average fields; the definition of the service does not name them. */
export type LoadNames = 'longterm' | 'fifteen_minute_load_average' | '15' | '15min';

/** The number of portal requests in a window, and the kind of window. */
export interface DemoRateLimit {
  readonly kind: 'fixed-window' | 'sliding-window';
  readonly requests: number;
  readonly windowMs: number;
}

/** A switch for each behaviour of the two services that is unknown or may change. */
export interface Variations {
  /** Whether `GET /data` needs the word Bearer before the key. */
  readonly bearer: boolean;
  /** The header that names the client within one API key of `GET /data`. */
  readonly clientKeyHeader: string;
  /** `metrics` as an array of one object, as the object itself, or as an array of several objects. */
  readonly metricsShape: 'array' | 'object' | 'split';
  /** How the response shows a group that the query switches off. */
  readonly switchedOff: 'empty' | 'missing';
  /** `filer_guid` as the portal's serial, as the same in upper case, or as one of the accelerator's own. */
  readonly filerGuids: 'serial' | 'upper' | 'own';
  /** `filer_title` as the name in the portal's inventory, or as one of the accelerator's own. */
  readonly filerTitles: 'inventory' | 'own';
  /** Events after the bookmark, from a few minutes before it, or always those of `freshHistoryMs`. */
  readonly delivery: 'incremental' | 'overlapping' | 'full';
  /** Undocumented words from time to time, in both services: a lock state, a severity, a status. */
  readonly unknownStates: boolean;
  /** Omits the optional fields of a record, in both services; a null becomes an absent field. */
  readonly omitOptional: boolean;
  /** The undocumented count in propagation records. */
  readonly dataProtected: boolean;
  /** Milliseconds in the timestamps of `GET /data`. */
  readonly fractionalTimestamps: boolean;
  /** How far back the first call of a new client key reaches. */
  readonly freshHistoryMs: number;
  readonly loadNames: LoadNames;
  /** Decimals of the telemetry series as JSON strings or as JSON numbers. */
  readonly decimals: 'string' | 'number';
  /** Shares as percent, or as a ratio from 0 to 1. */
  readonly ratioUnit: 'percent' | 'ratio';
  readonly memoryUnit: 'kilobytes' | 'bytes';
  /** The time of telemetry records in milliseconds or in seconds since the Unix epoch. */
  readonly timeUnit: 'milliseconds' | 'seconds';
  readonly latencyUnit: 'milliseconds' | 'seconds';
  /** Counts of a record: for the whole bin, or for one second. */
  readonly counts: 'bin' | 'second';
  /** Whether the service uses `bin_size`; if not, bins are one minute long. */
  readonly binSize: 'honoured' | 'ignored';
  /** The longest period of a telemetry request; a longer one gets 422. */
  readonly longestPeriodMs: number;
  /** The share of null among the values that may be null, from 0 to 1. */
  readonly nulls: number;
  /** Whole numbers of the inventories, lists and snapshots as JSON numbers, or as JSON strings. */
  readonly integers: 'number' | 'string';
  /** The newest bin of every series holds nulls only. */
  readonly newestNull: boolean;
  /** Items in random order. */
  readonly shuffled: boolean;
  /** The response of the memory series that the appliance's build does not have. */
  readonly memoryMismatch: 'empty' | '404' | '422';
  /** `expires_in` of a token response in seconds, which may be wrong; null omits it, and only the JWT has its `exp`. */
  readonly expiresIn: number | null;
  /** An access token is a JWT with `iat` and `exp`, or opaque. */
  readonly jwt: 'exp' | 'none';
  readonly tokenLifetimeMs: number;
  /** The forms of credentials that `POST /auth/token` accepts. */
  readonly authForms: readonly ('oauth2' | 'service_key' | 'user_key')[];
  /** Whether `POST /auth/token/refresh` exists; without it the response has status 404. */
  readonly refreshes: boolean;
  /** How far the clock of the services, by their headers, is ahead of the local one. */
  readonly clockAheadMs: number;
  /** The names of portal operations that the role may not use: requests of them return 403. */
  readonly forbidden: readonly string[];
  /** Whether `appliance_id` in `GET /volume_connections` is the id of `GET /edges` or the serial. */
  readonly connectionIds: 'edge' | 'serial';
  /** The licence that the telemetry series need; without it requests of them return 403. */
  readonly opsIqPremium: boolean;
  /** The burst limit of all portal operations together. */
  readonly rateLimit: DemoRateLimit | null;
  /** Portal requests a day (UTC); beyond it 429 without `Retry-After`. */
  readonly dailyLimit: number | null;
  /** How a 429 of the burst limit says when to retry. */
  readonly retryAfter: 'seconds' | 'date' | 'none';
  /** The delay of every response of both services. */
  readonly latencyMs: number;
}

/** The most plausible behaviour of the real services. */
export const defaultVariations: Variations = {
  bearer: false,
  clientKeyHeader: 'X-Service-client-key',
  metricsShape: 'array',
  switchedOff: 'empty',
  filerGuids: 'serial',
  filerTitles: 'inventory',
  delivery: 'incremental',
  unknownStates: false,
  omitOptional: false,
  dataProtected: false,
  fractionalTimestamps: false,
  freshHistoryMs: 3_600_000,
  loadNames: 'fifteen_minute_load_average',
  decimals: 'string',
  ratioUnit: 'percent',
  memoryUnit: 'kilobytes',
  timeUnit: 'milliseconds',
  latencyUnit: 'milliseconds',
  counts: 'bin',
  binSize: 'honoured',
  longestPeriodMs: 30 * 86_400_000,
  nulls: 0,
  integers: 'number',
  newestNull: false,
  shuffled: false,
  memoryMismatch: 'empty',
  expiresIn: null,
  jwt: 'exp',
  tokenLifetimeMs: 900_000,
  authForms: ['oauth2', 'service_key', 'user_key'],
  refreshes: true,
  clockAheadMs: 0,
  forbidden: [],
  connectionIds: 'edge',
  opsIqPremium: true,
  rateLimit: { kind: 'sliding-window', requests: 500, windowMs: 30_000 },
  dailyLimit: 1_000_000,
  retryAfter: 'seconds',
  latencyMs: 0,
};
