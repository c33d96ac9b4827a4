import { select } from './select.ts';

/** One of the two services, as the label `api` has it. */
export type Service = 'gfa' | 'portal';

/** The exporters that a service does not answer. What they say of it is old, or follows from that. */
export function down(service: Service): string {
  return `${select('filer_api_up', { api: `="${service}"` })} == 0`;
}

/** Tasks that are late while their service answers: in an outage all are, and that says nothing more. */
export const late = `max by (api) (${select('filer_exporter_tasks_overdue')} unless on (job, instance, api) ${select('filer_api_up')} == 0)`;

/** A query without what exporters say of a service that does not answer them. */
export function whileUp(service: Service, query: string): string {
  return `((${query}) unless on (job, instance) ${down(service)})`;
}
