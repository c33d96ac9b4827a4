import { battery } from './battery.ts';

battery('series');
