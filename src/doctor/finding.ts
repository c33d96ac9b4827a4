/**
 * The result of a check: a `failure` prevents data, a `warning` means that data is wrong, late or incomplete, `ok` is as
 * expected, and `unknown` could not be checked, whatever the reason: a failed check is no negative result.
 */
type Level = 'ok' | 'unknown' | 'warning' | 'failure';

/** One line of the check list. */
export interface Finding {
  readonly level: Level;
  /** What was checked: `names`, or the name of an API. */
  readonly subject: string;
  /** The check, such as `credentials`; the same for each of its results. */
  readonly check: string;
  /** The result of the check in fixed words, such as `other-form`. */
  readonly code: string;
  readonly observed: string;
  /** What was expected instead; missing if nothing is wrong. */
  readonly expected?: string;
  /** What to do, as an imperative. */
  readonly advice?: string;
}

export type ReportFinding = (
  level: Level,
  check: string,
  code: string,
  observed: string,
  more?: Pick<Finding, 'expected' | 'advice'>,
) => void;

export function formatFindings(findings: readonly Finding[]): string {
  const width = Math.max(0, ...findings.map(({ check }) => check.length));
  const lines: string[] = [];
  let subject: string | undefined;
  for (const finding of findings) {
    if (finding.subject !== subject) lines.push(...(subject === undefined ? [] : ['']), finding.subject);
    subject = finding.subject;
    lines.push(`  ${finding.level.padEnd(7)}  ${finding.check.padEnd(width)}  ${finding.observed}`);
    const indent = ' '.repeat(width + 13);
    if (finding.expected !== undefined) lines.push(`${indent}expected: ${finding.expected}`);
    if (finding.advice !== undefined) lines.push(`${indent}do: ${finding.advice}`);
  }
  return `${lines.join('\n')}\n\n${summary(findings)}\n`;
}

function summary(findings: readonly Finding[]): string {
  const count = (level: Level) => findings.filter((finding) => finding.level === level).length;
  const [warnings, failures] = [plural(count('warning'), 'warning'), plural(count('failure'), 'failure')];
  return `${count('ok')} ok, ${count('unknown')} unknown, ${warnings}, ${failures}`;
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
