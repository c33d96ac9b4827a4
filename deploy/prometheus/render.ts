import { LINKS, placeholderOf, type WrittenAlert, type WrittenGroup, type WrittenRule } from './template.ts';
import { thresholds } from './thresholds.ts';

/** The choices when installing the rules. */
export interface Choices {
  /** Thresholds that replace the shipped ones. */
  readonly thresholds?: Readonly<Record<string, number>>;
  /** How long an alert waits before it fires, by its name, as a Prometheus duration. */
  readonly for?: Readonly<Record<string, string>>;
  /** How long every alert keeps firing after its cause has ended, as a Prometheus duration. */
  readonly keepFiringFor?: string;
  /** Names of alerts to leave out. */
  readonly without?: readonly string[];
  /** The URL of the dashboard Runbooks, or of a copy of the folder docs/runbooks. Without it alerts have no link to their runbook. */
  readonly runbooks?: string;
  /** The URL of the page `/status`. Without it alerts have no link to it. */
  readonly status?: string;
}

/** Returns the rules of a template with these choices. Throws an Error if no rule would be left. */
export function render(template: readonly WrittenGroup[], choices: Choices = {}): readonly WrittenGroup[] {
  const groups = template
    .map((group) => ({ ...group, rules: group.rules.flatMap((rule) => rendered(rule, choices)) }))
    .filter(({ rules }) => rules.length > 0);
  if (groups.length === 0) throw new Error('every rule is left out; keep at least one');
  return groups;
}

function rendered(rule: WrittenRule, choices: Choices): readonly WrittenRule[] {
  const numbers = { ...thresholds, ...choices.thresholds };
  const fill = (text: string) =>
    Object.entries(numbers).reduce((so, [name, number]) => so.replaceAll(placeholderOf(name), `${number}`), text);
  if ('record' in rule) return [{ ...rule, expr: fill(rule.expr) }];
  if (choices.without?.includes(rule.alert)) return [];
  return [
    {
      ...rule,
      expr: fill(rule.expr),
      for: choices.for?.[rule.alert] ?? rule.for,
      keep_firing_for: choices.keepFiringFor ?? rule.keep_firing_for,
      annotations: annotationsOf(rule, fill, choices),
    },
  ];
}

function annotationsOf({ annotations }: WrittenAlert, fill: (text: string) => string, choices: Choices) {
  const entries = Object.entries(annotations).flatMap(([name, text]) => {
    const link = (['runbooks', 'status'] as const).find((each) => text.startsWith(LINKS[each]));
    if (link === undefined) return [[name, fill(text)] as const];
    const base = choices[link];
    return base === undefined ? [] : [[name, base.replace(/\/$/, '') + text.slice(LINKS[link].length)] as const];
  });
  return Object.fromEntries(entries);
}
