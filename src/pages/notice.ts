import { type Html, html } from './html.ts';

/** What the pages of the demo say before anything else. */
export const DEMO_NOTICE: Html = html`<aside class="notice"><p><strong>This is the demo.</strong> The fleet and all its numbers are made up, and the services are part of this process. One appliance fails on purpose: it is down below, <code>filer_appliance_up</code> is 0 for it, after 15 minutes the alert <code>FilerApplianceDown</code> fires, and <code>docs/runbooks/appliances.md</code> says what to do then.</p>
<p>For a fleet of your own: set <code>GFA_URL</code> or <code>PORTAL_URL</code> with their credentials, and start without <code>--demo</code>. <code>docs/deployment.md</code> has every way to install it.</p></aside>
`;
