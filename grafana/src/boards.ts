import { appliance } from './appliance.ts';
import { exporter } from './exporter.ts';
import { fleet } from './fleet.ts';
import type { Board } from './kit.ts';
import { overview } from './overview.ts';
import { volumes } from './volumes.ts';

export const boards: readonly Board[] = [overview, volumes, fleet, appliance, exporter];
