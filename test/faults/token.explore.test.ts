import { battery } from './battery.ts';

battery('token');
