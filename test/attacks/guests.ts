import { until } from '../support/until.ts';
import { GEHEIM } from '../web/asking.ts';
import type { Row } from './row.ts';
import { PASSWORD, WEB } from './stage.ts';

/** What an attacker can try who has a password. */
export const guests: readonly Row[] = [
  {
    id: 'guest-taken-out',
    who: 'guest',
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
