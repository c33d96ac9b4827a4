import { battery } from './battery.ts';

battery('data');
