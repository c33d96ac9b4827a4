/** What one spelling of the load average fields is called; the definition of the service names none. */
export type LoadNames = 'longterm' | 'fifteen_minute_load_average' | '15' | '15min';

/** How many portal requests are let through, and by which kind of counting. */
export type DemoRateLimit =
  | { readonly kind: 'token-bucket'; readonly perSecond: number; readonly burst: number }
  | { readonly kind: 'fixed-window' | 'sliding-window'; readonly requests: number; readonly windowMs: number };

/** Everything about the two services that is unknown or may change, as switches. */
export interface Variations {
  /** The header that names the client within one API key of `GET /data`. */
  readonly clientKeyHeader: string;
  /** `metrics` as an array of one object, as the object itself, or as an array of several objects. */
  readonly metricsShape: 'array' | 'object' | 'split';
  /** What becomes of a group that the query switches off. */
  readonly switchedOff: 'empty' | 'missing';
  /** `filer_guid` as the portal's serial, as the same in upper case, or as one of the accelerator's own. */
  readonly filerGuids: 'serial' | 'upper' | 'own';
  /** `filer_title` as the name in the portal's inventory, or as one of the accelerator's own. */
  readonly filerTitles: 'inventory' | 'own';
  /** Events after the bookmark, from some minutes before it, or the whole of `freshHistoryMs` each time. */
  readonly delivery: 'incremental' | 'overlapping' | 'full';
  /** Every volume's profile is empty text, not only that of a volume in mode Observation. */
  readonly emptyProfile: boolean;
  /** Now and then a word that nobody has documented, in both services: a lock state, a severity, a status. */
  readonly unknownStates: boolean;
  /** Leaves out whatever a record may go without, in both services; a null becomes an absent field. */
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
  /** Shares of a whole as percent, or as a ratio from 0 to 1. */
  readonly ratioUnit: 'percent' | 'ratio';
  readonly memoryUnit: 'kilobytes' | 'bytes';
  /** The time of telemetry records in milliseconds or in seconds since the Unix epoch. */
  readonly timeUnit: 'milliseconds' | 'seconds';
  readonly latencyUnit: 'milliseconds' | 'seconds';
  /** Counts of a record: of the whole bin, or of one second. */
  readonly counts: 'bin' | 'second';
  /** Whether `bin_size` decides how long a bin is; a minute where it does not. */
  readonly binSize: 'honoured' | 'ignored';
  /** The longest period that a telemetry request may name; a longer one is answered 422. */
  readonly longestPeriodMs: number;
  /** The share of null among the values that may be null, from 0 to 1. */
  readonly nulls: number;
  /** Whole numbers of the inventories, lists and snapshots as JSON numbers, or as JSON strings. */
  readonly integers: 'number' | 'string';
  /** The newest bin of every series holds nulls only. */
  readonly newestNull: boolean;
  /** Items in no order. */
  readonly shuffled: boolean;
  /** The answer about a disk that the appliance does not have. */
  readonly absentDisks: '404' | 'empty' | 'null';
  /** The answer of the memory series that does not fit the appliance's build. */
  readonly memoryMismatch: 'empty' | '404' | '422';
  /** A health score is a number in text, or a word. */
  readonly healthScore: 'number' | 'word';
  /** `expires_in` of a token answer, in seconds, true or not; null leaves the JWT's `exp` as the only truth. */
  readonly expiresIn: number | null;
  /** An access token is a JWT with `iat` and `exp`, or opaque. */
  readonly jwt: 'exp' | 'none';
  readonly tokenLifetimeMs: number;
  readonly refreshSingleUse: boolean;
  /** Whether a token is refreshed without the bearer header as well. */
  readonly refreshBearer: 'optional' | 'required';
  /** The forms in which `POST /auth/token` takes credentials. */
  readonly authForms: readonly ('oauth2' | 'service_key' | 'user_key')[];
  /** How far the services' clock, as their headers tell it, is ahead of ours. */
  readonly clockAheadMs: number;
  /** Whether answers tell what is left of the burst limit, in `RateLimit-*` headers. */
  readonly rateLimitHeaders: boolean;
  /** The operations of the portal, by name, that the role may not use: they answer 403. */
  readonly forbidden: readonly string[];
  /** When the licence ends, in milliseconds since the Unix epoch; null when it never does. */
  readonly licenceExpiresAt: number | null;
  /** `synced`, `is_reachable` and `last_seen_at` in `GET /edges`. */
  readonly newerEdgeFields: boolean;
  /** Whether `appliance_id` in `GET /volume_connections` is the id of `GET /edges` or the serial. */
  readonly connectionIds: 'edge' | 'serial';
  /** The licence that the telemetry series need; without it they answer 403. */
  readonly opsIqPremium: boolean;
  /** The burst limit of all portal operations together. */
  readonly rateLimit: DemoRateLimit | null;
  /** Portal requests a day (UTC); beyond it 429 without `Retry-After`. */
  readonly dailyLimit: number | null;
  /** How a 429 of the burst limit says when to come back. */
  readonly retryAfter: 'seconds' | 'date' | 'none';
  /** How long every answer of both services takes. */
  readonly latencyMs: number;
}

/** What the real services most plausibly do. */
export const plausible: Variations = {
  clientKeyHeader: 'X-Service-client-key',
  metricsShape: 'array',
  switchedOff: 'empty',
  filerGuids: 'serial',
  filerTitles: 'inventory',
  delivery: 'incremental',
  emptyProfile: false,
  unknownStates: false,
  omitOptional: false,
  dataProtected: false,
  fractionalTimestamps: false,
  freshHistoryMs: 3_600_000,
  loadNames: 'longterm',
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
  absentDisks: 'empty',
  memoryMismatch: 'empty',
  healthScore: 'number',
  expiresIn: null,
  jwt: 'exp',
  tokenLifetimeMs: 900_000,
  refreshSingleUse: true,
  refreshBearer: 'optional',
  authForms: ['oauth2', 'service_key', 'user_key'],
  clockAheadMs: 0,
  rateLimitHeaders: false,
  forbidden: [],
  licenceExpiresAt: Date.UTC(2030, 0, 1),
  newerEdgeFields: true,
  connectionIds: 'edge',
  opsIqPremium: true,
  rateLimit: { kind: 'sliding-window', requests: 500, windowMs: 30_000 },
  dailyLimit: 1_000_000,
  retryAfter: 'seconds',
  latencyMs: 0,
};
