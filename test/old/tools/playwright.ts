export { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
