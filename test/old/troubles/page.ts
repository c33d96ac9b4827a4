import type { Played, Told } from './play.ts';
import type { Trouble } from './rows.ts';

/** The most entries of a cell: those that came first. */
const MOST = 2;

/** The table of docs/failures.md. */
export function troublesTable(played: readonly (readonly [Trouble, Played])[]): string {
  const rows = played.map(([{ what }, { metrics, log, alerts, doctor }]) => {
    const cells = [what, cell(metrics, code), cell(log), cell(alerts, code, 9)];
    return `| ${[...cells, doctorCell(doctor)].join(' | ')} |\n`;
  });
  return `| failure | metric | log | alert | doctor |\n|---|---|---|---|---|\n${rows.join('')}`;
}

function cell(told: readonly Told[], shown = (text: string) => text, most = MOST): string {
  return told
    .slice(0, most)
    .map(({ text, after }) => `${shown(plain(text))} (${after})`)
    .join('<br>');
}

function doctorCell(findings: readonly string[]): string {
  // The doctor's clock is that of the machine: its numbers are others each time, but for statuses.
  const [first = '', ...more] = findings.map((text) => plain(text).replaceAll(/(?<!answered |\()\b\d+\b/g, '…'));
  return more.length === 0 ? first : `${first}<br>and ${more.length} more`;
}

function code(text: string): string {
  return `\`${text}\``;
}

/** Without what another run has otherwise. */
function plain(text: string): string {
  return text
    .replaceAll(/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g, '…')
    .replaceAll(': Injected fault', '')
    .replaceAll('|', '\\|');
}
