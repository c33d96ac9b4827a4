/** The notice at the top of the pages of the demo; code in backticks. */
export const demoNotice = {
  title: 'This is the demo.',
  paragraphs: [
    'The fleet and all its numbers are simulated, and the services are part of this process. One appliance is off on purpose: `/status` shows it without records, `filer_appliance_up` is 0 for it, and after five minutes the alert `FilerNotCheckingIn` fires. `docs/runbooks/file-acceleration.md` says what to do then. With `--demo --trouble` much else fails too.',
    'For your own fleet, set `GFA_URL` or `PORTAL_URL` with credentials and start without `--demo`. `docs/deployment.md` describes every installation.',
  ],
} as const;
