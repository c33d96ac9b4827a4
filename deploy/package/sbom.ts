import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/*
 * Lists what a release contains, in the format CycloneDX: the packages, and the Node.js in the executable and in the
 * Debian package.
 */

const options = ['--omit=dev', '--omit=optional', '--package-lock-only', '--sbom-format=cyclonedx'];
const bill = JSON.parse(execFileSync('npm', ['sbom', ...options], { encoding: 'utf8', maxBuffer: 1e8 }));
const archives = readFileSync(new URL('node.sha256', import.meta.url), 'utf8')
  .trim()
  .split('\n');
for (const line of archives) {
  const [, content, file, version] = /^([0-9a-f]{64}) {2}(node-v([\d.]+)-\S+)$/.exec(line) ?? [];
  bill.components.push({
    type: 'platform',
    'bom-ref': `node@${version}/${file}`,
    name: 'node',
    version,
    purl: `pkg:generic/node@${version}?file_name=${file}`,
    hashes: [{ alg: 'SHA-256', content }],
    licenses: [{ license: { id: 'MIT' } }],
    externalReferences: [{ type: 'distribution', url: `https://nodejs.org/dist/v${version}/${file}` }],
  });
}
process.stdout.write(`${JSON.stringify(bill, undefined, 2)}\n`);
