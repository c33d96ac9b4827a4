import type { Labels } from '../metrics/family.ts';
import type { ApiReport } from './model.ts';

/** The longest time for which a text stays although it has changed. */
const MAX_SHOWN_MS = 3_600_000;

interface ShownWarning {
  readonly labels: Labels;
  /** When the warning began, and when this text of it was first shown, in monotonic milliseconds. */
  readonly begunAt: number;
  readonly shownAt: number;
}

/**
 * The warnings as labels. A text may quote a message of the service, which may change with each response, for example
 * because it contains a request number, and each text is a new series. So a text stays for as long as its warning
 * had lasted when the text appeared, and for an hour at most.
 */
export class WarningLabels {
  #shown: ReadonlyMap<string, ShownWarning> = new Map();

  /** `now`: monotonic milliseconds. */
  of(apis: readonly ApiReport[], now: number): readonly Labels[] {
    const shown = new Map<string, ShownWarning>();
    for (const { api, cause, warnings } of apis) {
      for (const { code, happened, advice } of [...(cause === null ? [] : [{ ...cause, code: 'down' }]), ...warnings]) {
        const key = `${api} ${code} ${subjectOf(happened)}`;
        const labels = { api, warning: code, happened, advice };
        const before = this.#shown.get(key) ?? { labels, begunAt: now, shownAt: now };
        const isSame = before.labels.happened === happened && before.labels.advice === advice;
        const staysMs = Math.min(before.shownAt - before.begunAt, MAX_SHOWN_MS);
        shown.set(key, isSame || now - before.shownAt < staysMs ? before : { ...before, labels, shownAt: now });
      }
    }
    this.#shown = shown;
    return Array.from(shown.values(), ({ labels }) => labels);
  }
}

/** What stays of a text while its condition lasts: neither numbers, nor what follows a colon, such as a message of the service. */
function subjectOf(happened: string): string {
  return (happened.split(': ')[0] ?? '').replaceAll(/\d+/g, '');
}
