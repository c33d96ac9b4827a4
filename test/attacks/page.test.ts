import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../support/program.ts';

/** The promises of docs/security.md that have their test elsewhere: a file below test/, and how the name of a test in it begins. */
const SHOWN: Readonly<Record<string, readonly [file: string, name: string]>> = {
  'rate-limit': ['web/rate-limit.all.test.ts', 'it counts before a password is asked for'],
  'stalled-handshake': ['web/access-control.test.ts', 'rejects every request'],
  'known-users': ['web/access-control.test.ts', 'costs a stranger the same check as a user'],
  'plain-or-no-certificate': ['web/tls.all.test.ts', 'TLS, a client certificate and a password are all asked for'],
  'slow-headers': ['web/slow-clients.all.test.ts', 'are cut off: who says nothing, who never ends a header'],
  'endless-bodies': ['web/slow-clients.all.test.ts', 'cannot go on with a body once they have a response'],
  'guest-writes': ['http/server.test.ts', '%s is not allowed anywhere'],
  'guest-requests-ahead': ['http/crowd.test.ts', 'and send a thousand requests before the response to the first'],
  'guest-answers-unread': ['http/crowd.test.ts', 'keep no scrape out: at the limit'],
  'page-scripts': ['pages/status-page.test.ts', 'whatever a service or an appliance calls itself is shown as text'],
  debugger: ['process/signals.test.ts', 'SIGUSR1 and SIGUSR2 do nothing'],
  'work-folder': ['history/backfill/backfill.test.ts', 'a work folder that somebody else can change'],
  'state-link': ['state/file-store.test.ts', 'is not written through a link to %s'],
  'endless-state': ['state/file-store.test.ts', 'that is %s is moved aside'],
  'readable-secrets': ['process/loose-files.all.test.ts', 'that others can read or change gets a warning'],
  'secrets-anywhere': ['process/secrets.all.test.ts', 'by services that repeat what they were sent'],
  'core-dumps': ['deploy/systemd.all.test.ts', 'the unit writes no core dump and swaps nothing out'],
  'unread-log': ['runtime/log.test.ts', 'drops lines instead of keeping them'],
  'low-limits': ['process/low-limits.test.ts', 'a limit of the process that is too low'],
  'quoted-file': ['process/commands.test.ts', '--like quotes nothing of a file that is no report'],
  'reserved-headers': ['config/parse-variables.test.ts', 'remote write takes headers as names and values'],
  'early-stop': ['process/signals.test.ts', 'turns after its first instruction'],
  'shared-state': ['state/file-store.test.ts', 'a second instance on one state file says so'],
  'empty-web-file': ['web/web-config-schema.test.ts', '%j is a file cut off, and not one that asks for nothing'],
  'half-renewed-pair': ['web/web-config-reloader.test.ts', 'a certificate is seen that has changed alone'],
  'strict-web-file': ['web/web-config-schema.test.ts', 'whatever it holds, there is no exception'],
  'broken-state': ['state/journal.test.ts', 'a wrong byte anywhere is noticed'],
  'heavy-state': ['state/keeper.test.ts', 'a file %s'],
  'planted-state': ['state/file-store.test.ts', 'that %s is not read'],
  'long-texts': ['services/gfa/ledger.test.ts', 'a day of long names, ids, words and fields'],
  'heavy-answers': ['process/heavy-answers.all.test.ts', 'with oversized answers to all operations at once'],
  'echoed-secrets': ['runtime/masking.test.ts', 'nor %s'],
  'words-stay': ['runtime/masking.test.ts', 'words that an operator needs stay'],
  'masked-before-cut': ['runtime/log.test.ts', 'shows no beginning of a secret where'],
  'masking-time': ['runtime/masking.test.ts', 'is as quick to mask as any other'],
  'long-secrets': ['config/file-secrets.test.ts', 'a secret above 8 KiB is rejected'],
  'repeated-secrets': ['process/secrets.all.test.ts', 'neither in the log nor on a page'],
  'terminal-codes': ['runtime/log.test.ts', 'does nothing to a terminal'],
  'titles-on-terminals': ['process/once.all.test.ts', '%s has a terminal obey no title of a service'],
  'doctor-secrets': ['process/doctor.test.ts', 'the doctor shows no secret that a service repeats'],
  'report-names': ['doctor/report.test.ts', 'a report holds no name, id, host, key'],
  'wrong-times': ['services/wrong-times/wrong-times.test.ts', 'after a time was wrong, every state is right'],
  redirects: ['transport/wire.test.ts', 'to another host is not followed'],
  'writing-requests': ['process/read-only.all.test.ts', 'with every operation of every series and collector'],
  certificates: ['config/dotenv.test.ts', 'the checking of certificates cannot be switched off'],
  'late-authority': ['config/dotenv.test.ts', 'NODE_EXTRA_CA_CERTS'],
  'proxy-certificates': ['transport/tls.all.test.ts', 'opens tunnels, and what is wrong with the service'],
  'plain-upstream': ['config/load.test.ts', 'is an http URL beyond this machine'],
  'answer-shares': ['transport/response-limits.test.ts', 'everything that can be in flight at once'],
  proxies: ['transport/connection.test.ts', 'a tunnel that is never opened is let go'],
  'no-proxy': ['config/no-proxy.test.ts', 'the proxy of a service'],
  'supply-chain': ['package.test.ts', 'are under licences that allow every use'],
  'workflow-images': ['deploy/workflows.test.ts', 'names every image by its digest'],
  'release-images': ['deploy/workflows.test.ts', 'a release pins its base images'],
  'release-installs': ['deploy/workflows.test.ts', 'a job that may write, or has a secret, fetches nothing else'],
  'release-node': ['deploy/workflows.test.ts', 'the executable embeds the archive of the Node.js project'],
  'purged-secrets': [
    'deploy/workflows.test.ts',
    'purging the Debian package removes secrets and state, and removing it does not',
  ],
};

const page = readFileSync(join(root, 'docs', 'security.md'), 'utf8');

/** Comments of the page, which no reader sees, name what shows the sentence before them. */
const named = (text: string) => [...text.matchAll(/<!-- ([a-z -]+) -->/g)].flatMap(([, ids = '']) => ids.split(' '));

/** The rows of the attacks beside this file. */
const folder = join(root, 'test/attacks');
const rows = readdirSync(folder)
  .filter((name) => name.endsWith('.test.ts'))
  .flatMap((name) => [...readFileSync(join(folder, name), 'utf8').matchAll(/^ {4}id: '([a-z-]+)',$/gm)])
  .map(([, id = '']) => id);
const ids = [...rows, ...Object.keys(SHOWN)];

test('every row that docs/security.md names exists, and every row is named there', () => {
  expect(new Set(named(page))).toEqual(new Set(ids));
  expect(new Set(ids).size).toBe(ids.length);
});

test.each(Object.entries(SHOWN))('%s is shown by a test that exists', (_, [file, name]) => {
  expect(name.length).toBeGreaterThan(5);
  expect(readFileSync(join(root, 'test', file), 'utf8')).toContain(name);
});
