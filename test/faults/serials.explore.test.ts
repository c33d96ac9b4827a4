import { battery } from './battery.ts';

battery('serials');
