// Only here: what the services and receivers can answer to do harm.
import { battery } from './battery.ts';
import { rows } from './rows.ts';

battery('guest', rows);
