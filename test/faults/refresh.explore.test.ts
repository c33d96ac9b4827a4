import { battery } from './battery.ts';

battery('refresh');
