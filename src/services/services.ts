import type { Config } from '../config/config.ts';
import { gfa } from './gfa/service.ts';
import { portal } from './portal/service.ts';
import type { Service } from './service.ts';

/** Every service that can be polled, in the order of the exposition. Add one here and nowhere else. */
export const services: readonly Service[] = [gfa, portal];

export interface ConfiguredService {
  readonly api: string;
  readonly service: Service;
  readonly settings: unknown;
}

export function configuredServices(config: Config): readonly ConfiguredService[] {
  return services.flatMap((service) => {
    const settings = service.section.of(config);
    return settings === undefined ? [] : [{ api: service.section.api, service, settings }];
  });
}
