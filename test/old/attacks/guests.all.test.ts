// Only here: what the services and receivers can answer to do harm.
import { until } from '../support/until.ts';
import { GEHEIM } from '../web/asking.ts';
import { battery } from './battery.ts';
import type { Row } from './row.ts';
import { PASSWORD, WEB } from './stage.ts';

/** What an attacker can try who has a password. */
const guests: readonly Row[] = [
  {
    id: 'guest-taken-out',
    tries: 'goes on with a password that was taken out of the file',
    holds: 'the password is asked for in each request, and is wrong within seconds',
    setup: { web: 'users' },
    play: async (stage) => {
      await stage.scrape();
      stage.writeWeb(`basic_auth_users:\n  you: ${GEHEIM}\n`);
      await until(
        'the password to be wrong',
        async () => (await stage.ask('/metrics', { headers: PASSWORD })).status === 401,
      );
      stage.writeWeb(WEB.users);
      await stage.scrape();
    },
  },
];

battery('guest', guests);
