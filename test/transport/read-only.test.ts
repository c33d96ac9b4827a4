import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { root } from '../support/program.ts';

describe('nothing else can be sent', () => {
  const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.startsWith('demo/'))
    .map((path) => [path, readFileSync(join(root, 'src', path), 'utf8')] as const);
  const holding = (text: RegExp) => sources.filter(([, source]) => text.test(source)).map(([path]) => path);

  test('one place speaks to the network, and it asks what is allowed first', () => {
    expect(holding(/\bdispatcher\.request\b|\.dispatch\(/)).toEqual(['transport/attempt.ts']);
    expect(holding(/from '.*\/attempt\.ts'/)).toEqual([
      'transport/client.ts',
      // Of remote write: what it sends goes to a receiver of the operator's, and to no service.
      'transport/post.ts',
    ]);
    expect(holding(/\bfetch\(|\bhttps?\.request\b|\bnet\.connect\b|\btls\.connect\b/)).toEqual([]);
    expect(holding(/^import (?!type).* from 'undici'/m)).toEqual(['transport/dispatcher.ts']);
    const client = sources.find(([path]) => path === 'transport/client.ts')?.[1] ?? '';
    expect(client.match(/(?<!#)\battempt\(|this\.#attempt\(/g)).toEqual(['this.#attempt(', 'attempt(']);
    expect(client).toMatch(/send\(request[^{]+\{\s+assertAllowed\(request, this\.#settings\.allowed\);/);
  });

  test('every request in the source that is no GET is one of those', () => {
    // The rows of what is allowed are no requests, and remote write asks no service.
    const others = ['sources/portal/requests.ts', 'transport/post.ts'];
    const asking = sources.filter(([path]) => !others.includes(path));
    const found = asking.flatMap(([path, source]) =>
      [...source.matchAll(/method: '([A-Z]+)',\s+path(?:: (['`][^'`]*['`]))?/g)].map(
        ([, method = '', written = 'path']) => `${path}: ${method} ${written}`,
      ),
    );
    const writing = found.filter((request) => !request.includes(': GET '));
    const token = 'sources/portal/token.ts';
    expect(new Set(writing)).toEqual(
      new Set([
        `${token}: DELETE '/auth/token'`,
        `${token}: POST '/auth/token'`,
        'sources/portal/appliances/telemetry.ts: POST path',
        // Of --doctor, which reads telemetry in bins.
        'sources/portal/appliances/bin-questions.ts: POST path',
        // To the proxy, which opens a tunnel to the service and hears nothing of what goes through.
        'doctor/network.ts: CONNECT path',
        'sources/portal/volumes/telemetry.ts: POST path',
      ]),
    );
    const methods = asking.flatMap(([, source]) => [...source.matchAll(/method: '[A-Z]+'/g)]);
    expect(methods).toHaveLength(found.length);
  });
});
