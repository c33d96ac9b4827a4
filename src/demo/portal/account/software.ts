import { json, type Scene } from '../../exchange.ts';
import { uuidOf } from '../../world/waveforms.ts';
import { type Item, item, worded } from '../item.ts';
import { type DemoOperation, get } from '../operation.ts';
import { text, word } from '../query.ts';

const TYPES = ['nmc', 'naa', 'edge', 'uaas', 'file_iq', 'naada', 'awada', 'desktop', 'ha_edge'];

/** The downloads: the newest build for the appliances of the fleet, and the previous one. */
const offered: readonly (readonly [type: string, platform: string, version: string | null])[] = [
  ['edge', 'vmware', '10.1.2'],
  ['edge', 'vmware', '10.0.5'],
  ['edge', 'hyperv', '10.1.2'],
  ['edge', 'aws', '10.1.2'],
  ['ha_edge', 'vmware', '10.1.2'],
  ['file_iq', 'vmware', '10.2.0'],
  ['nmc', 'vmware', '24.2.1'],
  ['desktop', 'windows', null],
];

/** The downloads. */
export const softwareOperations: readonly DemoOperation[] = [
  get(
    'software_downloads',
    '/software/downloads',
    (scene) => {
      const { query } = scene.request;
      const fits = (name: string, value: string | null) => query.get(name) === null || query.get(name) === value;
      const found = offered.filter(
        ([type, platform, version]) => fits('type', type) && fits('platform', platform) && fits('version', version),
      );
      return json(200, { items: found.map((download) => toItem(scene, download)) });
    },
    { type: word(TYPES), platform: text, version: text },
  ),
];

function toItem({ world, variations }: Scene, download: (typeof offered)[number]): Item {
  const [type, platform, version] = download;
  const name = download.join('/');
  return item(
    name,
    {
      appliance_type: worded(name, type, 'lake_edge', variations),
      platform,
      display_name: `${type} ${version ?? ''} for ${platform}`,
    },
    { version, availability: platform === 'aws' ? 'cloud' : 'url', id: idOf(world.seed, download) },
    variations,
  );
}

function idOf(seed: number, download: (typeof offered)[number]): string {
  return uuidOf(seed, 'download', ...download.map(String));
}
