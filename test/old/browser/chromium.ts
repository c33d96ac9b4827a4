import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type Browser, type BrowserContextOptions, chromium, type Page } from '../tools/playwright.ts';

/** Where Chromium is; undefined where it is not installed. */
export const chromiumPath: string | undefined = (process.env.PATH ?? '')
  .split(delimiter)
  .flatMap((folder) => ['chromium', 'chromium-browser', 'google-chrome'].map((name) => join(folder, name)))
  .find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });

/** Whether tests in a browser are left out: where REQUIRE_CHROMIUM asks for it, a machine without one fails instead. */
export const withoutChromium: boolean = chromiumPath === undefined && process.env.REQUIRE_CHROMIUM !== '1';

/** Starts Chromium, without a window. Rejects where it is not installed. */
export function launchChromium(): Promise<Browser> {
  if (chromiumPath === undefined) throw new Error('Chromium is not installed: expected `chromium` on the PATH');
  // As root, Chromium does not start with its sandbox, and containers have a small /dev/shm.
  const args = ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'];
  return chromium.launch({ executablePath: chromiumPath, args });
}

/** A page open in a browser, and what it did that it should not have. */
export interface Opened {
  readonly page: Page;
  /** Errors and warnings of the console, exceptions, and violations of the policy. */
  readonly complaints: readonly string[];
  /** The address of everything that it asked for. */
  readonly asked: readonly string[];
}

/** Opens a page in a context of its own, which ends with the test. Its clock can be moved by `page.clock`. */
export async function open(browser: Browser, url: string, options: BrowserContextOptions = {}): Promise<Opened> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  const complaints: string[] = [];
  const asked: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('request', (request) => asked.push(request.url()));
  await page.addInitScript(
    `addEventListener('securitypolicyviolation', (event) => console.error('policy: ' + event.violatedDirective))`,
  );
  if (options.javaScriptEnabled !== false) await page.clock.install();
  await page.goto(url);
  return { page, complaints, asked };
}
