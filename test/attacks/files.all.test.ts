// Only here: what a file can do that somebody else has written.
import { battery } from './battery.ts';
import { rows } from './rows.ts';

battery('file', rows);
