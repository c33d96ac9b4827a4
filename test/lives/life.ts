export {
  ACCOUNT,
  DAY,
  HOUR,
  MINUTE,
  PORTAL,
  SECOND,
  SERIES,
  type Seen,
  type Setup as Beginning,
  TELEMETRY,
  World as Life,
} from '../harness/world.ts';
