/** The limits that the exporter is told, and that nobody may ever see exceeded. */
export const TOLD = { requests: 40, windowMs: 30_000, aDay: 12_000 };

/** Of everything that is polled, in milliseconds. */
export const INTERVAL_MS = 300_000;

/** The series polled of every appliance. */
export const SERIES = ['cpu_utilization', 'load_average'] as const;
