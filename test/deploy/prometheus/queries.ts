import { parser } from '@prometheus-io/lezer-promql';

/** One metric that a query reads, and the labels that it picks its series by. */
export interface Selected {
  readonly metric: string;
  readonly labels: readonly string[];
}

/** What a query names. */
export interface Named {
  readonly selected: readonly Selected[];
  /** Of `by`, `without`, `on`, `ignoring` and `group_left`. */
  readonly grouped: readonly string[];
}

/** Takes a PromQL query apart. Throws where it is none. */
export function namedIn(query: string): Named {
  const tree = parser.parse(query);
  const selected: Selected[] = [];
  const grouped: string[] = [];
  const text = (node: { readonly from: number; readonly to: number }) => query.slice(node.from, node.to);
  tree.iterate({
    enter: ({ node }) => {
      if (node.type.isError) throw new Error(`no PromQL at character ${node.from}: ${query}`);
      if (node.name === 'VectorSelector') {
        const metric = node.getChild('Identifier');
        const matchers = node.getChild('LabelMatchers')?.getChildren('UnquotedLabelMatcher') ?? [];
        const labels = matchers.flatMap((matcher) => matcher.getChildren('LabelName').map(text));
        selected.push({ metric: metric ? text(metric) : '', labels });
      }
      if (node.name === 'GroupingLabels') grouped.push(...node.getChildren('LabelName').map(text));
    },
  });
  return { selected, grouped };
}
