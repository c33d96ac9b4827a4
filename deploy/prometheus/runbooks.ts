import { readFileSync } from 'node:fs';
import type { AlertRule } from './rule.ts';

/**
 * Returns the panel of an alert's runbook on the dashboard Runbooks. It depends only on the name of the alert, so that a
 * link from another version of the rules still leads to it.
 */
export function panelOf(alert: string): number {
  return 1000 + [...alert].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 99_991, 0);
}

/**
 * The parts "Do" and "Escalate" of an alert's runbook as plain text for an annotation, so that the receiver needs no link.
 * Labels such as `{instance}` become those of the alert. Throws if the runbook does not have both parts.
 */
export function remedyOf({ alert, page }: AlertRule): string {
  const text = readFileSync(new URL(`../../docs/runbooks/${page}.md`, import.meta.url), 'utf8');
  const section = text.split(/^## /m).find((one) => one.split('\n')[0] === alert);
  const [remedy, escalation] = section?.split('\n**Do.**\n')[1]?.split('\n**Escalate.** ') ?? [];
  if (remedy === undefined || escalation === undefined) {
    throw new Error(`docs/runbooks/${page}.md: ${alert} does not have the parts "**Do.**" and "**Escalate.**"`);
  }
  return `${remedy.trim()} Escalate: ${escalation.trim()}`
    .replaceAll(/\s*\n\s*/g, ' ')
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/\{(instance|filer|volume|serial|api)\}/g, '{{ $labels.$1 }}');
}
