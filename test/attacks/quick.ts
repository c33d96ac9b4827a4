/** The rows that `npm test` plays; the others are part of `npm run test:all`. */
export const QUICK: readonly string[] = ['requests-ahead', 'idle-connections'];
