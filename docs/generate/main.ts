import { readFileSync, writeFileSync } from 'node:fs';
import { variableRows } from '../../src/catalog.ts';
import { metricsPage, variablesTable, withPart } from './reference.ts';

/** `npm run docs`: writes the generated pages and parts of pages. `.ci/run` checks that nothing has changed. */

const CONFIGURATION = 'docs/configuration.md';

writeFileSync('docs/metrics.md', metricsPage());
const page = readFileSync(CONFIGURATION, 'utf8');
writeFileSync(CONFIGURATION, withPart(page, 'configuration', variablesTable(variableRows)));
