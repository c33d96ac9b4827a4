// Only here: each fault of a service on real connections, from the first sign to the last line of the log.
import { battery } from './battery.ts';

battery('data');
