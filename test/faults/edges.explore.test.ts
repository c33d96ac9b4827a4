import { battery } from './battery.ts';

battery('edges');
