import { battery } from './battery.ts';
import { rows } from './rows.ts';

battery('file', rows);
