/** What the pages of the demo say before anything else; code in backticks. */
export const demoNotice = {
  title: 'This is the demo.',
  paragraphs: [
    'The fleet and all its numbers are made up, and the services are part of this process. One appliance fails on purpose: it is down below, `filer_appliance_up` is 0 for it, after 15 minutes the alert `FilerApplianceDown` fires, and `docs/runbooks/appliances.md` says what to do then.',
    'For a fleet of your own: set `GFA_URL` or `PORTAL_URL` with their credentials, and start without `--demo`. `docs/deployment.md` has every way to install it.',
  ],
} as const;
