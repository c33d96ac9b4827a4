import { readFileSync } from 'node:fs';
import type { AlertRule } from './rule.ts';

/**
 * The part "Do" of an alert's runbook as plain text for an annotation, so that the receiver needs no link. Labels such
 * as `{instance}` become those of the alert. Throws if the runbook has no such part.
 */
export function remedyOf({ alert, page }: AlertRule): string {
  const text = readFileSync(new URL(`../../docs/runbooks/${page}.md`, import.meta.url), 'utf8');
  const section = text.split(/^## /m).find((one) => one.split('\n')[0] === alert);
  const remedy = section?.split('\n**Do.** ')[1];
  if (remedy === undefined) throw new Error(`docs/runbooks/${page}.md: ${alert} has no part "**Do.**"`);
  return remedy
    .trim()
    .replaceAll(/\s*\n\s*/g, ' ')
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/\{(instance|filer|volume|serial|api)\}/g, '{{ $labels.$1 }}');
}
