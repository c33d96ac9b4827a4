import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Real processes and sockets need longer than the default on a small machine; nothing waits this long on purpose.
    testTimeout: 20_000,
    hookTimeout: 30_000,
  },
});
