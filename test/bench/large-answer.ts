/** Filers on volumes in the large answer, and the events of each: some 300,000 records, and as many samples. */
const PAIRS = 8_000;
const EVENTS = 37;

/** An answer of `GET /data` of 300,000 records. */
export function largeAnswer(): Buffer {
  const time = (second: number) => new Date(Date.UTC(2026, 2, 2, 10) + second * 1000).toISOString();
  const filers: unknown[] = [];
  const propagation: unknown[] = [];
  const locks: unknown[] = [];
  for (let pair = 0; pair < PAIRS; pair += 1) {
    const subject = {
      filer_guid: `a1d1b8de-4e2b-4d0c-9a7f-${String(pair).padStart(12, '0')}`,
      filer_title: `filer ${pair}`,
      volume_guid: `0b7ad5f2-91c4-4c1e-8a55-${String(pair % 200).padStart(12, '0')}`,
      volume_title: `volume ${pair % 200}`,
    };
    filers.push({ ...subject, last_checkin: 30, oldest_unprotected_data: 60, timestamp: time(0) });
    for (let event = 0; event < EVENTS; event += 1) {
      const timestamp = time(event);
      if (event % 2 === 0) propagation.push({ ...subject, kind: 'sync', prop_seconds: 12 + event, timestamp });
      else {
        const lock = { lock_phase: 'acquire', lock_state: 'done', lock_duration: event / 10 };
        locks.push({ ...subject, ...lock, timestamp });
      }
    }
  }
  const info = { account: 'benchmark', volumes: [], request_time: time(60) };
  return Buffer.from(JSON.stringify({ info, metrics: [{ filers, propagation, locks, volumes: [] }] }));
}
