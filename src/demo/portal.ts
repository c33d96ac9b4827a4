import { currentPerformance, healthScore } from './appliance-summary.ts';
import { Auth } from './auth.ts';
import type { Credentials } from './credentials.ts';
import type { Answer, Scene } from './exchange.ts';
import { portalError } from './exchange.ts';
import { edges, health, license, serials, volumeConnections } from './inventory.ts';
import { Limits } from './limits.ts';
import type { Route } from './routes.ts';
import { series } from './telemetry.ts';

type Handler = (scene: Scene) => Answer;

/** The portal: limits first, then the route, then the bearer token, then the operation itself. */
export class Portal {
  readonly #auth: Auth;
  readonly #limits = new Limits();
  /** Operations that need no bearer token. */
  readonly #public: ReadonlyMap<string, Handler>;
  readonly #private: ReadonlyMap<string, Handler>;

  constructor(credentials: Credentials, seed: number) {
    const auth = new Auth(credentials, seed);
    this.#auth = auth;
    this.#public = new Map<string, Handler>([
      ['health', health],
      ['token', (scene) => auth.token(scene)],
      ['refresh', (scene) => auth.refresh(scene)],
    ]);
    this.#private = new Map<string, Handler>([
      ['revoke', (scene) => auth.revoke(scene)],
      ['serials', serials],
      ['edges', edges],
      ['volume_connections', volumeConnections],
      ['license', license],
    ]);
  }

  /** The answer to a request that was routed here. */
  answer(scene: Scene, route: Route): Answer {
    const refusal = this.#limits.refusal(scene.variations, scene.now) ?? unknownRoute(route);
    if (refusal !== undefined) return refusal;
    const open = this.#public.get(route.operation);
    if (open !== undefined) return open(scene);
    const handler = this.#private.get(route.operation);
    return this.#auth.refusal(scene) ?? (handler === undefined ? telemetry(scene, route) : handler(scene));
  }
}

function unknownRoute({ refusal }: Route): Answer | undefined {
  return refusal === undefined ? undefined : portalError(refusal, refusal === 404 ? 'Not Found' : 'Method Not Allowed');
}

function telemetry(scene: Scene, { operation, serial = '' }: Route): Answer {
  if (!scene.variations.opsIqPremium) return portalError(403, 'The licence for this operation is missing');
  const appliance = scene.world.appliance(serial);
  if (appliance === undefined) return portalError(404, 'Unknown serial number');
  if (operation === 'current_appliance_performance') return currentPerformance(scene, appliance);
  if (operation === 'appliance_health_score') return healthScore(scene, appliance);
  return series(scene, appliance, operation);
}
