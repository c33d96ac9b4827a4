import { readFileSync } from 'node:fs';
import type { AlertRule } from './rule.ts';

/**
 * What to do about an alert, from the part "Do" of its runbook, as plain text for an annotation: who is woken has it
 * without a link. Labels such as `{instance}` become those of the alert. Throws where the runbook has no such part.
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
