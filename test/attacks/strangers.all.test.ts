// Only here: what somebody on the network can do to a real process.
import { battery } from './battery.ts';
import { QUICK } from './quick.ts';
import { rows } from './rows.ts';

battery(
  'stranger',
  rows.filter(({ id }) => !QUICK.includes(id)),
);
