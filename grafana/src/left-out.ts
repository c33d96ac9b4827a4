/** Metrics that are on no dashboard on purpose, each with the reason. */
export const leftOut: Readonly<Record<string, string>> = {};
