import { expect } from 'vitest';
import type { Page } from '../tools/playwright.ts';

/** What a reader of pages aloud is given: one element. */
export interface AxNode {
  readonly ignored: boolean;
  readonly role?: { readonly value: string };
  readonly name?: { readonly value: string };
}

/** Makes the page believe that it is hidden, or seen again, as a change of tabs does. */
export async function hide(page: Page, hidden: boolean): Promise<void> {
  await page.evaluate(
    `Object.defineProperty(document, 'hidden', { configurable: true, value: ${hidden} });
     document.dispatchEvent(new Event('visibilitychange'))`,
  );
}

/** Resolves when the page has been painted. */
export const TWO_FRAMES = 'new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))';

/**
 * Milliseconds of processor time that the longest task on the main thread of a page took, by a trace of Chromium: time
 * by the clock would measure what else this machine does.
 */
export function longestStopMs(trace: Buffer): number {
  const { traceEvents } = JSON.parse(trace.toString()) as { readonly traceEvents: readonly TraceEvent[] };
  const mains = traceEvents.filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain');
  const threads = new Set(mains.map(({ pid, tid }) => `${pid} ${tid}`));
  const tasks = traceEvents.filter(({ pid, tid, tdur }) => tdur !== undefined && threads.has(`${pid} ${tid}`));
  expect(tasks.length).toBeGreaterThan(10);
  return Math.round(Math.max(...tasks.map(({ tdur = 0 }) => tdur)) / 1000);
}

interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  /** Microseconds. */
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

/** For each element with a text of its own how much that stands out (WCAG 2.2, contrast ratio), by computed colours. */
export const CONTRASTS = `(() => {
  const channels = (color) => color.match(/[\\d.]+/g).map(Number);
  const luminance = ([r, g, b]) => [r, g, b]
    .map((value) => value / 255)
    .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4))
    .reduce((sum, value, index) => sum + value * [0.2126, 0.7152, 0.0722][index], 0);
  const behind = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const color = channels(getComputedStyle(each).backgroundColor);
      if (color.length < 4 || color[3] === 1) return color;
    }
    return [255, 255, 255];
  };
  return [...document.querySelectorAll('body *')]
    .filter((element) => element.checkVisibility() && [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim()))
    .map((element) => {
      const [text, back] = [luminance(channels(getComputedStyle(element).color)), luminance(behind(element))];
      const ratio = (Math.max(text, back) + 0.05) / (Math.min(text, back) + 0.05);
      return { text: element.textContent.trim().slice(0, 40), ratio: Math.round(ratio * 100) / 100 };
    });
})()`;
