import { type ApplianceState, isReporting, type TaskState } from './task-state.ts';

/** What a verdict on an appliance needs beside its series; monotonic milliseconds. */
export interface Moment {
  readonly now: number;
  /** Nothing was asked for a while until then: what was asked before says nothing. */
  readonly resumedAt: number;
  readonly isApiDown: boolean;
  readonly staleAfter: number;
  readonly stretched: number;
}

/** `state`: undefined while nothing new can be said. `ask`: the series to poll now, because the verdict depends on it. */
interface Verdict {
  readonly state?: ApplianceState | undefined;
  readonly ask?: TaskState | undefined;
}

/**
 * An appliance reports until every series of its shortest interval has failed and none of their values is fresh, unless
 * another series has returned records since they began to fail: one of those is asked at once. Its answer counts as long
 * as a value of the shortest interval would, and is renewed before. Series that are backed off do not count, unless all are.
 */
export function verdictOn(tasks: Iterable<TaskState>, moment: Moment): Verdict {
  const all = [...tasks];
  const awake = all.filter(({ backedOff }) => backedOff === undefined);
  const shortestMs = Math.min(...awake.map(({ task }) => task.intervalMs));
  const series = awake.length > 0 ? awake.filter(({ task }) => task.intervalMs === shortestMs) : all;
  const isFresh = series.some(isReporting);
  if (moment.isApiDown) {
    const isKnown = series.some(({ standing }) => standing !== undefined);
    return { state: isFresh ? 'reporting' : isKnown ? silentState(series) : undefined };
  }
  const since = silentSince(series, isFresh, moment);
  if (since === undefined) return { state: isFresh ? 'reporting' : undefined };
  const others = awake.filter((state) => !series.includes(state));
  const { isAsked, isProof, ask } = proofOf(others, since, shortestMs, moment);
  if (isFresh || isProof) return { state: 'reporting', ask };
  return { state: isAsked ? silentState(series) : undefined, ask };
}

/** Undefined if one has not failed, or was not asked since a pause; one whose value is stale need not be asked. */
function silentSince(series: readonly TaskState[], isFresh: boolean, moment: Moment): number | undefined {
  const { now, resumedAt, staleAfter, stretched } = moment;
  const isKnown = series.some(({ standing }) => standing !== undefined);
  const areAsked = series.every(({ silence, askedAt }) => silence !== undefined && askedAt >= resumedAt);
  const knownFor = now - Math.max(resumedAt, ...series.map(({ addedAt }) => addedAt));
  const isOverdue = !isFresh && series.some(({ task }) => knownFor > staleAfter * stretched * task.intervalMs);
  if (!isKnown || !(areAsked || isOverdue)) return undefined;
  return Math.max(...series.map(({ silence, confirmedAt = 0 }) => silence?.since ?? confirmedAt));
}

/** Whether the other series show that the appliance reports. The one to ask for that is the one that reported last. */
function proofOf(others: readonly TaskState[], since: number, intervalMs: number, moment: Moment) {
  const { now, staleAfter, stretched } = moment;
  const [likeliest] = others.toSorted((one, other) => (reportOf(other) > reportOf(one) ? 1 : -1));
  if (likeliest === undefined) return { isAsked: true, isProof: false, ask: undefined };
  const ageMs = (now - reportOf(likeliest)) / stretched;
  const isAsked = others.some(({ askedAt }) => askedAt >= since);
  const isProof = reportOf(likeliest) > since && ageMs <= staleAfter * intervalMs;
  const isOld = ageMs > Math.max(staleAfter - 1, 1 / 2) * intervalMs;
  const isInFlight = others.some(({ due }) => due === undefined);
  const isNeeded = !isAsked || (isProof && isOld && likeliest.standing === 'records');
  return { isAsked, isProof, ask: isNeeded && !isInFlight ? likeliest : undefined };
}

function reportOf({ reportedAt = Number.NEGATIVE_INFINITY }: TaskState): number {
  return reportedAt;
}

/** Where all are backed off, an empty answer beside a rejection is of a series that the appliance lacks anyway. */
function silentState(series: readonly TaskState[]): ApplianceState {
  const isEmpty = ({ isShown, standing }: TaskState) => isShown && standing === 'empty';
  const areBackedOff = series.every(({ backedOff }) => backedOff !== undefined);
  return (areBackedOff ? series.every(isEmpty) : series.some(isEmpty)) ? 'no_records' : 'unavailable';
}
