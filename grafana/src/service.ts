import { select } from './select.ts';

/** One of the two services, as in the label `api`. */
export type Service = 'gfa' | 'portal';

/** The exporters for which a service is down. Their values about it are old, or follow from the outage. */
export function down(service: Service): string {
  return `${select('filer_api_up', { api: `="${service}"` })} == 0`;
}

/** The tasks that are late although their service responds. In an outage all tasks are late. */
export const late = `max by (api) (${select('filer_exporter_tasks_overdue')} unless on (job, instance, api) ${select('filer_api_up')} == 0)`;

/** Excludes the values of exporters for which the service is down. */
export function whileUp(service: Service, query: string): string {
  return `((${query}) unless on (job, instance) ${down(service)})`;
}

/**
 * Keeps only the values of exporters that report this service as up. Totals of a time range need it: while the service or
 * the exporter is down, Prometheus computes them from earlier samples, and they would read as "no events".
 */
export function whilePolled(service: Service, query: string): string {
  return `((${query}) and on (job, instance) ${select('filer_api_up', { api: `="${service}"` })} == 1)`;
}
