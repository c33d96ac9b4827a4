import { readFileSync } from 'node:fs';
import * as classic from '@grafana/grafana-foundation-sdk/dashboard';
import * as texts from '@grafana/grafana-foundation-sdk/text';
import { alertRules } from '../../deploy/prometheus/groups.ts';
import type { RunbookPage } from '../../deploy/prometheus/rule.ts';
import { panelOf } from '../../deploy/prometheus/runbooks.ts';
import type { Dashboard } from './dashboard.ts';
import { everyDashboard, runbookAddress, TAG, titles, uids } from './places.ts';

/** The titles of the pages of docs/runbooks. */
const headings: Readonly<Record<RunbookPage, string>> = {
  exporter: 'The exporter and the services',
  'file-acceleration': 'File acceleration',
  appliances: 'Appliances',
  portal: 'The portal',
};

const pageText = (page: string) => readFileSync(new URL(`../../docs/runbooks/${page}.md`, import.meta.url), 'utf8');

/** How to reach what the runbooks need, and whom to call. */
const BEGINNING = 1;

/**
 * The pages of docs/runbooks, one panel for each alert. The other dashboards link to these panels, so that a link leads to
 * a runbook wherever the dashboards are installed, also while the exporter is down.
 */
export function runbooks(): Dashboard {
  const builder = new classic.DashboardBuilder(titles.runbooks)
    .uid(uids.runbooks)
    .description(
      'What to do about each alert: who suffers, what it means, what to check, what to do, and whom to call.',
    )
    .tags([TAG])
    .timezone('browser')
    .readonly()
    .time({ from: 'now-6h', to: 'now' })
    .link(everyDashboard())
    .withPanel(
      panel(BEGINNING, 'Begin here', pageText('README').split('\n## The alerts')[0] ?? '')
        .span(24)
        .height(20),
    );
  for (const [index, [page, heading]] of Object.entries(headings).entries()) {
    builder.withRow(new classic.RowBuilder(heading).id(BEGINNING + 1 + index));
    const sections = pageText(page).split(/^## /m).slice(1);
    for (const section of sections) {
      const [alert = ''] = section.split('\n', 1);
      builder.withPanel(panel(panelOf(alert), alert, section.slice(alert.length)).span(24).height(16));
    }
  }
  return builder.build();
}

function panel(id: number, title: string, markdown: string): texts.PanelBuilder {
  return new texts.PanelBuilder().id(id).title(title).mode(texts.TextMode.Markdown).content(linked(markdown.trim()));
}

/** Turns links to other runbooks into links to their panels, and removes links to other documents. */
function linked(markdown: string): string {
  const names = new Map(alertRules.map(({ alert }) => [alert.toLowerCase(), alert]));
  return markdown
    .replace(/^# .*\n/, '')
    .replaceAll(/\[([^\]]*)\]\(([^)#]*)#?([^)]*)\)/g, (_, text: string, file: string, anchor: string) => {
      const alert = names.get(anchor);
      if (alert !== undefined) return `[${text}](${runbookAddress(panelOf(alert))})`;
      return file === 'README.md' ? `[${text}](${runbookAddress(BEGINNING)})` : text;
    });
}
