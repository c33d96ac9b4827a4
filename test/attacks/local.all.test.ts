// Only here: what another user of the machine can read or change.
import { battery } from './battery.ts';
import { rows } from './rows.ts';

battery('local user', rows);
