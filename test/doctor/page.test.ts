import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import type { Question } from '../../src/doctor/examination.ts';
import { gfaQuestions } from '../../src/sources/gfa/questions.ts';
import { portalQuestions } from '../../src/sources/portal/questions.ts';

const path = join(fileURLToPath(new URL('../..', import.meta.url)), 'docs/doctor.md');

/** A row for each question; a line in its last cell for each answer. */
function table(title: string, questions: readonly Question[]): string {
  const rows = questions.map(({ question, asks, told, answers }) => {
    const effects = Object.entries(answers).map(([answer, effect]) => `\`${answer}\`: ${effect}`);
    return `| \`${question}\` | ${asks} | ${told} | ${effects.join('<br>')} |`;
  });
  return [`### ${title}`, '', '| question | asks | told | answers |', '|---|---|---|---|', ...rows].join('\n');
}

test('docs/doctor.md has every question that the doctor asks, each answer with what the daemon does', async () => {
  const page = readFileSync(path, 'utf8');
  const tables = [table('File acceleration', gfaQuestions), table('Portal', portalQuestions)].join('\n\n');
  const part = /(<!-- questions:begin -->\n)[\s\S]*?(<!-- questions:end -->)/;
  expect(page).toMatch(part);
  await expect(page.replace(part, `$1\n${tables}\n\n$2`)).toMatchFileSnapshot(path);
});
