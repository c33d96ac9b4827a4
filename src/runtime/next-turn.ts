/** Lets scrapes and responses in, in the middle of work that would occupy the event loop for more than some 20 ms. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
