import { credentials, type DemoRequest, SimulatedServices } from '../../../src/demo/services.ts';
import { ManualClock } from '../../harness/manual-clock.ts';

type Asked = Partial<DemoRequest> & Pick<DemoRequest, 'path'>;

/** Simulated services on a manual clock, and what they respond to a request. */
export function startServices(options: ConstructorParameters<typeof SimulatedServices>[1] = {}) {
  const clock = new ManualClock();
  const services = new SimulatedServices(clock, options);
  const ask = (service: 'gfa' | 'portal', { method = 'GET', headers = {}, body = '', path }: Asked) => {
    const { body: text, ...sent } = services.respond(service, { method, path, headers, body });
    return { ...sent, json: text === '' ? undefined : JSON.parse(text) };
  };
  return { clock, services, ask };
}

export { credentials };
