import { expect, test } from 'vitest';
import { landingPage } from '../../src/pages/landing-page.ts';
import { textOf } from './reports.ts';

test('the first page says what this is, its version, and links to everything, the exposition where it is configured', async () => {
  const page = await textOf(landingPage('1.2.3', '/my&metrics'));
  const links = [...page.matchAll(/<li><a href="([^"]*)">/g)].map(([, href]) => href);
  expect(links).toEqual(['./status', './my&amp;metrics', './api/v1/status', './healthz', './readyz']);
  expect(page).toContain('<h1>filer-exporter</h1>');
  expect(page).toContain('<span class="version">1.2.3</span>');
  expect(page).toMatch(/^<!doctype html>\n<html lang="en">[\s\S]*<\/html>\n$/);
});

test('the first page runs no script', () => {
  expect(landingPage('1', '/metrics').headers['content-security-policy']).not.toContain('script-src');
});
