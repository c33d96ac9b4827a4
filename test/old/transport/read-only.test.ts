import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../support/program.ts';

const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts') && !path.startsWith('demo/'))
  .map((path) => [path, readFileSync(join(root, 'src', path), 'utf8')] as const);
const holding = (text: RegExp) => sources.filter(([, source]) => text.test(source)).map(([path]) => path);

test('one place speaks to the network', () => {
  expect(holding(/\bdispatcher\.request\b|\.dispatch\(/)).toEqual(['transport/attempt.ts']);
  expect(holding(/from '.*\/attempt\.ts'/)).toEqual([
    'transport/json-client.ts',
    // Of remote write: what it sends goes to a receiver of the operator's, and to no service.
    'transport/post.ts',
  ]);
  expect(holding(/\bfetch\(|\bhttps?\.request\b|\bnet\.connect\b|\btls\.connect\b/)).toEqual([]);
  expect(holding(/^import (?!type).* from 'undici'/m)).toEqual(['transport/dispatcher.ts']);
});
