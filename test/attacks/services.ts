import type { Row } from './row.ts';

/** What a service, or whatever answers in its place, can try. */
export const services: readonly Row[] = [
  {
    id: 'heavy-answers',
    who: 'service',
    tries: 'sends answers made to be too much once they are parsed or unpacked',
    holds: 'each is refused as oversize before anything is made of it, in 128 MiB',
    shownBy: ['process/heavy-answers.all.test.ts', 'whatever fills the answers to all operations at once'],
  },
  {
    id: 'echoed-secrets',
    who: 'service',
    tries: 'repeats in an error what it was sent: whole, in another case, in HTML, cut to its beginning',
    holds: 'what was sent is masked in logs, pages and errors',
    shownBy: ['transport/masking.test.ts', 'nor %s'],
  },
  {
    id: 'terminal-codes',
    who: 'service',
    tries: 'has a terminal obey control characters in a message',
    holds: 'what is logged or printed of a service has each of them escaped',
    shownBy: ['runtime/log.test.ts', 'does nothing to a terminal'],
  },
  {
    id: 'redirects',
    who: 'service',
    tries: 'redirects a request, with its token, to elsewhere',
    holds: 'redirects are never followed',
    shownBy: ['faults/battery.ts', 'redirects that were followed'],
  },
  {
    id: 'writing-requests',
    who: 'service',
    tries: 'has the exporter change something',
    holds: 'every request passes one check, which lets only reading ones and those for its own token through',
    shownBy: ['process/read-only.all.test.ts', ''],
  },
  {
    id: 'certificates',
    who: 'service',
    tries: 'answers in the place of a service, with another certificate',
    holds: 'certificates are checked, and nothing switches that off',
    shownBy: ['config/load.test.ts', 'the checking of certificates cannot be switched off'],
  },
];
