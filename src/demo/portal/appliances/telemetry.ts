import type { DemoResponse, Scene } from '../../exchange.ts';
import { json, portalError } from '../../exchange.ts';
import type { DemoAppliance } from '../../world/world.ts';
import type { DemoOperation } from '../operation.ts';
import { series } from './records.ts';
import { applianceSeries } from './series.ts';
import { currentPerformance, healthScore } from './summary.ts';

type Respond = (scene: Scene, appliance: DemoAppliance) => DemoResponse;

/** `POST /telemetry/appliances/{serial_number}/{segment}`: the 20 series and the two single objects. */
export const applianceTelemetryOperations: readonly DemoOperation[] = [
  ...[...applianceSeries.keys()].map((segment) => operation(segment, (scene, of) => series(scene, of, segment))),
  operation('current_appliance_performance', currentPerformance),
  operation('appliance_health_score', healthScore),
];

function operation(segment: string, respondAbout: Respond): DemoOperation {
  return {
    name: segment,
    method: 'POST',
    path: `/telemetry/appliances/{serial_number}/${segment}`,
    respond: (scene, { serial_number = '' }) => {
      if (!scene.variations.opsIqPremium) return portalError(403, 'The licence for this operation is missing');
      const appliance = scene.world.appliance(serial_number.toLowerCase());
      if (appliance === undefined) return portalError(404, 'Unknown serial number');
      // The portal responds about an appliance that is off, and has no records of it.
      if (appliance.trait === 'off') return json(200, applianceSeries.has(segment) ? { items: [] } : {});
      return respondAbout(scene, appliance);
    },
  };
}
