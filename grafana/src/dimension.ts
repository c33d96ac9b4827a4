import type { SyntaxNode } from '@lezer/common';
import { parser } from '@prometheus-io/lezer-promql';
import { metricOfSeries } from './catalogue.ts';
import { anyValues, filled } from './fill.ts';

/**
 * What the numbers of a query measure. `seconds` and `bytes` are powers: bytes per second have 1 for bytes and -1 for
 * seconds. `share`: a number without a unit is a share from 0 to 1.
 */
export interface Dimension {
  readonly seconds: number;
  readonly bytes: number;
  readonly share: boolean;
}

const COUNT: Dimension = { seconds: 0, bytes: 0, share: false };
const SHARE: Dimension = { ...COUNT, share: true };
const SECONDS: Dimension = { ...COUNT, seconds: 1 };

const ofUnit: Readonly<Record<string, Dimension>> = {
  seconds: SECONDS,
  bytes: { ...COUNT, bytes: 1 },
  bytes_per_second: { ...COUNT, bytes: 1, seconds: -1 },
  ratio: SHARE,
};

/** Aggregations and functions that count: their result has no unit. */
const COUNTING = /^(?:count|count_values|group|changes|resets|count_over_time|absent|vector)$/;

/**
 * Computes the dimension of a query from the units in the catalogue: a rate is per second, seconds per second are a
 * share, and the inverse of a rate is in seconds. Throws if the query is invalid or names no known metric.
 */
export function dimensionOf(query: string): Dimension {
  const text = filled(query, anyValues);
  const tree = parser.parse(text);
  tree.iterate({
    enter: ({ type, from }) => {
      if (type.isError)
        throw new Error(`${text}: not PromQL from character ${from} on: ${text.slice(from, from + 20)}`);
    },
  });
  const root = tree.topNode.firstChild;
  if (root === null) throw new Error('an empty query');
  return visit(root, text);
}

function visit(node: SyntaxNode, text: string): Dimension {
  const word = (name: string) => {
    const child = node.getChild(name);
    return child === null ? undefined : text.slice(child.from, child.to);
  };
  switch (node.name) {
    case 'VectorSelector':
      return selected(word('Identifier') ?? '', text.slice(node.from, node.to));
    case 'NumberDurationLiteral':
      return COUNT;
    case 'AggregateExpr':
      return called(word('AggregateOp') ?? '', node, text);
    case 'FunctionCall':
      return called(word('FunctionIdentifier') ?? '', node, text);
    case 'BinaryExpr':
      return combined(node, text);
    default: {
      // Parentheses, ranges, offsets, subqueries and signs keep the dimension of what they contain.
      const inner = operands(node)[0];
      if (inner === undefined) throw new Error(`${text.slice(node.from, node.to)}: expected a value in it`);
      return visit(inner, text);
    }
  }
}

function selected(name: string, what: string): Dimension {
  if (name === '') throw new Error(`${what}: expected the name of a metric`);
  const { metric, part } = metricOfSeries(name);
  if (part === '_bucket' || part === '_count') return COUNT;
  // The catalogue has no unit for numbers per second, so the name decides.
  const counted = /_(?:iops|requests_per_second)$/.test(metric.name) ? { ...COUNT, seconds: -1 } : COUNT;
  return ofUnit[metric.unit ?? ''] ?? counted;
}

function called(name: string, node: SyntaxNode, text: string): Dimension {
  if (name === 'time' || name === 'timestamp') return SECONDS;
  if (COUNTING.test(name)) return COUNT;
  const given = operands(node.getChild('FunctionCallBody') ?? node);
  if (name === 'histogram_quantile') {
    const series = /(\w+)_bucket\b/.exec(text.slice(node.from, node.to))?.[1] ?? '';
    return selected(`${series}_sum`, series);
  }
  // The parameter of topk, bottomk and quantile comes before the expression that counts.
  const parametered = /^(?:topk|bottomk|quantile|quantile_over_time)$/.test(name);
  const subject = given[parametered ? 1 : 0];
  if (subject === undefined) throw new Error(`${name}: expected an argument`);
  const of = visit(subject, text);
  return /^(?:i?rate|deriv)$/.test(name) ? divided(of, SECONDS) : of;
}

function combined(node: SyntaxNode, text: string): Dimension {
  const [left, right] = operands(node);
  if (left === undefined || right === undefined)
    throw new Error(`${text.slice(node.from, node.to)}: expected two sides`);
  if (node.getChild('BoolModifier') !== null) return COUNT;
  const [one, other] = [visit(left, text), visit(right, text)];
  const numbers = left.name === 'NumberDurationLiteral' || right.name === 'NumberDurationLiteral';
  if (node.getChild('Div') !== null) {
    const quotient = divided(one, other);
    return { ...quotient, share: numbers ? one.share : quotient.seconds === 0 && quotient.bytes === 0 };
  }
  if (node.getChild('Mul') !== null) {
    return { seconds: one.seconds + other.seconds, bytes: one.bytes + other.bytes, share: one.share || other.share };
  }
  return left.name === 'NumberDurationLiteral' ? other : one;
}

function divided(one: Dimension, other: Dimension): Dimension {
  const [seconds, bytes] = [one.seconds - other.seconds, one.bytes - other.bytes];
  return { seconds, bytes, share: seconds === 0 && bytes === 0 && one.seconds === other.seconds && one.seconds !== 0 };
}

/** Returns the children that are expressions themselves. */
function operands(node: SyntaxNode): readonly SyntaxNode[] {
  const found: SyntaxNode[] = [];
  for (let child = node.firstChild; child !== null; child = child.nextSibling) {
    if (VALUE.test(child.name)) found.push(child);
  }
  return found;
}

const VALUE =
  /^(?:VectorSelector|MatrixSelector|SubqueryExpr|AggregateExpr|FunctionCall|BinaryExpr|ParenExpr|UnaryExpr|StepInvariantExpr|OffsetExpr|NumberDurationLiteral)$/;
