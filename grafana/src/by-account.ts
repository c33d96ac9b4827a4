import { parser } from '@prometheus-io/lezer-promql';

/**
 * A query whose aggregations and joins keep the label `job`, which is the account. Two accounts may have filers and volumes of
 * the same names, so a sum or a join without `job` would mix them. Every query of a board passes through here.
 */
export function byAccount(query: string): string {
  const insertions: (readonly [at: number, text: string])[] = [];
  parser.parse(parseable(query)).iterate({
    enter: ({ node }) => {
      const isOn = node.name === 'MatchingModifierClause' && node.getChild('On') !== null;
      const isBy = node.name === 'AggregateModifier' && node.getChild('By') !== null;
      const labels = isOn || isBy ? node.getChild('GroupingLabels') : null;
      if (labels !== null) {
        const names = labels.getChildren('LabelName').map(({ from, to }) => query.slice(from, to));
        if (!names.includes('job')) insertions.push([labels.from + 1, names.length === 0 ? 'job' : 'job, ']);
      }
      const operator = node.name === 'AggregateExpr' ? node.getChild('AggregateOp') : null;
      if (operator === null || node.getChild('AggregateModifier') !== null) return;
      // These functions select series and keep their labels.
      const chooses = /^(?:topk|bottomk)$/.test(query.slice(operator.from, operator.to));
      if (!chooses) insertions.push([operator.to, ' by (job) ']);
    },
  });
  return inserted(query, insertions);
}

/** Replaces each variable in the query by a literal of the same length. */
function parseable(query: string): string {
  return query.replaceAll(/\$(?:\{[^}]*\}|\w+)/g, (variable, at: number) => {
    const digits = '1'.repeat(variable.length - 1);
    return query[at - 1] === '[' ? `${digits}m` : `1${digits}`;
  });
}

/** Limits every series of a query of the alert rules to the account that the dashboard shows. */
export function ofAccount(query: string): string {
  const insertions: (readonly [at: number, text: string])[] = [];
  parser.parse(query).iterate({
    enter: ({ node }) => {
      if (node.name !== 'VectorSelector') return;
      const matchers = node.getChild('LabelMatchers');
      insertions.push(matchers === null ? [node.to, '{job="$job"}'] : [matchers.from + 1, 'job="$job",']);
    },
  });
  return inserted(query, insertions);
}

function inserted(query: string, insertions: readonly (readonly [at: number, text: string])[]): string {
  return insertions
    .toSorted(([one], [other]) => other - one)
    .reduce((text, [at, added]) => text.slice(0, at) + added + text.slice(at), query);
}
