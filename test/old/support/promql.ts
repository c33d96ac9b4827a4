import type { SyntaxNode } from '@lezer/common';
import { parser } from '@prometheus-io/lezer-promql';

/** One selector of a query. */
export interface Selector {
  /** The name of the series; none where only labels select. */
  readonly name: string | undefined;
  /** The names of the labels that it matches. */
  readonly labels: readonly string[];
}

/** What a query is made of, as far as names go. */
export interface Names {
  readonly selectors: readonly Selector[];
  /** Labels that something is grouped by or matched on, each with the selectors that could have it. */
  readonly groupings: readonly { readonly labels: readonly string[]; readonly of: readonly Selector[] }[];
}

/** Where a query is no PromQL, as texts; none when it is good. */
export function errorsOf(query: string): readonly string[] {
  const faults: string[] = [];
  parser.parse(query).iterate({
    enter: ({ type, from }) => {
      if (type.isError) faults.push(`character ${from}: ${query.slice(from, from + 30)}`);
    },
  });
  return faults;
}

/** The names in a query. */
export function namesIn(query: string): Names {
  const root = parser.parse(query).topNode;
  const made = madeLabels(query, root);
  const groupings: { labels: readonly string[]; of: readonly Selector[] }[] = [];
  for (const node of every(root, 'AggregateModifier', 'MatchingModifierClause')) {
    const labels = every(node, 'LabelName')
      .map((label) => textOf(query, label))
      .filter((label) => !made.includes(label));
    if (labels.length > 0) groupings.push({ labels, of: selectorsIn(query, node.parent ?? root) });
  }
  return { selectors: selectorsIn(query, root), groupings };
}

/** The labels that the series of a query may have; `labelsOf` says those of a selector. */
export function labelsOfResult(
  query: string,
  labelsOf: (selector: Selector) => readonly string[],
): ReadonlySet<string> {
  const found = new Set<string>();
  const visit = (node: SyntaxNode): void => {
    // topk and bottomk choose within groups, and leave every label.
    const groups = node.name === 'AggregateExpr' && !/^(?:topk|bottomk)\b/.test(textOf(query, node));
    const grouped = groups ? node.getChild('AggregateModifier') : null;
    if (grouped?.getChild('By') != null) {
      for (const label of every(grouped, 'LabelName')) found.add(textOf(query, label));
      return;
    }
    if (node.name === 'FunctionCall') for (const label of madeLabels(query, node)) found.add(label);
    if (node.name === 'VectorSelector') {
      for (const label of selectorsIn(query, node).flatMap(labelsOf)) found.add(label);
      return;
    }
    for (let child = node.firstChild; child !== null; child = child.nextSibling) visit(child);
  };
  visit(parser.parse(query).topNode);
  return found;
}

/** The labels that functions of a query make. */
function madeLabels(query: string, root: SyntaxNode): readonly string[] {
  const makers = /^(?:label_replace|label_join|count_values)\b/;
  return every(root, 'FunctionCall', 'AggregateExpr')
    .filter((node) => makers.test(textOf(query, node)))
    .flatMap((node) => node.getChild('FunctionCallBody')?.getChild('StringLiteral') ?? [])
    .map((literal) => textOf(query, literal).slice(1, -1));
}

function selectorsIn(query: string, root: SyntaxNode): readonly Selector[] {
  return every(root, 'VectorSelector').map((node) => {
    const name = node.getChild('Identifier');
    return {
      name: name === null ? undefined : textOf(query, name),
      labels: every(node, 'LabelName').map((label) => textOf(query, label)),
    };
  });
}

function every(root: SyntaxNode, ...names: readonly string[]): readonly SyntaxNode[] {
  const found: SyntaxNode[] = [];
  root.cursor().iterate(({ name, node }) => {
    if (names.includes(name) && node.from >= root.from && node.to <= root.to) found.push(node);
  });
  return found;
}

function textOf(query: string, { from, to }: SyntaxNode): string {
  return query.slice(from, to);
}

/** The query with one more matcher in each of its selectors. */
export function narrowed(query: string, matcher: string): string {
  const root = parser.parse(query).topNode;
  let text = query;
  for (const node of every(root, 'VectorSelector').toReversed()) {
    const matchers = node.getChild('LabelMatchers');
    const [at, inserted] =
      matchers === null
        ? [node.getChild('Identifier')?.to ?? node.to, `{${matcher}}`]
        : [matchers.from + 1, every(matchers, 'LabelName').length === 0 ? matcher : `${matcher},`];
    text = text.slice(0, at) + inserted + text.slice(at);
  }
  return text;
}
