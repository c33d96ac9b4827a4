import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

// It lives here and not at the top, so `npm test` names it. A bare `npx vitest run` works too, with vitest's own limits.
export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  test: {
    include: ['test/**/*.test.ts'],
    // Real processes and sockets need longer than the default on a small machine; nothing waits this long on purpose.
    testTimeout: 20_000,
    hookTimeout: 30_000,
    // Of tests that say that they may: each has a process of its own, which waits more than it works.
    maxConcurrency: 6,
  },
});
