import { groups, groupsOf } from '../../deploy/prometheus/groups.ts';
import { nothingIsGood } from './expected-empty.ts';

/** One rule, and the query of it that has to give data. */
export interface Rule {
  readonly name: string;
  /** As it is shipped. */
  readonly expr: string;
  /** With thresholds that everything is beyond, where it compares with one; else as it is shipped. */
  readonly open: string;
}

/** Every rule that is shipped. */
export const rules: readonly Rule[] = namedIn(groups).map(({ name, expr }, index) => {
  return { name, expr, open: namedIn(groupsOf(nothingIsGood))[index]?.expr ?? expr };
});

function namedIn(all: typeof groups): readonly { readonly name: string; readonly expr: string }[] {
  return all.flatMap((group) =>
    group.rules.map((rule) => ({ name: 'alert' in rule ? rule.alert : rule.record, expr: rule.expr })),
  );
}
