import type { DemoCredentials } from '../credentials.ts';
import type { Complaint, DemoResponse, Scene } from '../exchange.ts';
import { invalid, portalError } from '../exchange.ts';
import { Limits } from '../limits.ts';
import type { Route } from '../routes.ts';
import { Auth } from './auth.ts';
import type { Found } from './operations.ts';
import { isUuid, queryComplaints } from './query.ts';

/** The portal: limits first, then the route, then the bearer token, rights and the query, then the operation itself. */
export class Portal {
  readonly #auth: Auth;
  readonly #limits = new Limits();

  constructor(credentials: DemoCredentials, seed: number) {
    this.#auth = new Auth(credentials, seed);
  }

  /** The number of token families that are alive. */
  families(now: number): number {
    return this.#auth.families(now);
  }

  /** The response to a request for the portal. */
  respond(scene: Scene, route: Route): DemoResponse {
    const rejection = this.#limits.rejection(scene.variations, scene.now) ?? unknownRoute(route);
    if (rejection !== undefined) return rejection;
    if (route.operation === 'token')
      return route.path.endsWith('/refresh') ? this.#auth.refresh(scene) : this.#auth.token(scene);
    const { found } = route;
    if (found?.operation.isPublic !== true) {
      const rejected = this.#auth.rejection(scene);
      if (rejected !== undefined) return rejected;
    }
    return found === undefined ? this.#auth.revoke(scene) : allowed(scene, found);
  }
}

function unknownRoute({ rejection }: Route): DemoResponse | undefined {
  return rejection === undefined
    ? undefined
    : portalError(rejection, rejection === 404 ? 'Not Found' : 'Method Not Allowed');
}

function allowed(scene: Scene, { operation, parameters }: Found): DemoResponse {
  if (scene.variations.forbidden.includes(operation.name)) return portalError(403, 'Insufficient permissions');
  const complaints = [...pathComplaints(parameters), ...queryComplaints(scene.request.query, operation.query ?? {})];
  return complaints.length > 0 ? invalid(...complaints) : operation.respond(scene, parameters);
}

/** Every identifier but that of a volume is a UUID. */
function pathComplaints(parameters: Found['parameters']): readonly Complaint[] {
  return Object.entries(parameters)
    .filter(([name, value]) => name !== 'volume_id' && !isUuid(value))
    .map(([name, value]) => ({ type: 'uuid_parsing', loc: ['path', name], msg: 'A UUID is expected', input: value }));
}
