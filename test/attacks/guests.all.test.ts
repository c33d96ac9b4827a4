import { battery } from './battery.ts';
import { rows } from './rows.ts';

battery('guest', rows);
