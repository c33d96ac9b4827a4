/** A metric about the exporter that only one service has. It has no labels. */
export interface OwnMetric {
  readonly name: `filer_exporter_${string}`;
  readonly help: string;
  /** Default gauge. */
  readonly type?: 'counter';
}

/** The present value of each by its name. */
export type OwnValues = ReadonlyMap<string, number>;
