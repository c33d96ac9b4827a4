/**
 * Keeps the status page up to date, and shows what the reader chooses without loading the page anew. The server sorts,
 * filters and produces every piece of HTML; this script only exchanges rows, cards and the time. Scroll position, focus
 * and open details stay.
 */

/** Milliseconds between two updates. */
const EVERY_MS = 10_000;

/** The time limit of an update, in milliseconds. */
const PATIENCE_MS = 8_000;

/** Milliseconds between the last key and the filter. */
const TYPING_MS = 150;

/** @type {<T extends HTMLElement>(id: string) => T | null} */
const byId = (id) => /** @type {any} */ (document.getElementById(id));

const words = /** @type {HTMLInputElement | null} */ (byId('words'));
const form = byId('filter');

document.addEventListener('click', (event) => {
  const link = event.target instanceof Element ? event.target.closest('a[href^="?"]') : null;
  if (link === null || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  history.pushState(null, '', link.getAttribute('href'));
  readFilter();
  lookNow();
});
addEventListener('popstate', () => {
  readFilter();
  lookNow();
});
form?.addEventListener('submit', (event) => {
  event.preventDefault();
  applyFilter();
});
let typing = 0;
words?.addEventListener('input', () => {
  clearTimeout(typing);
  typing = setTimeout(applyFilter, TYPING_MS);
});

function readFilter() {
  if (words !== null) words.value = new URLSearchParams(location.search).get('filter') ?? '';
}

function applyFilter() {
  clearTimeout(typing);
  const query = new URLSearchParams(location.search);
  query.delete('page');
  query.set('filter', words?.value ?? '');
  if (words?.value === '') query.delete('filter');
  history.replaceState(null, '', `?${query}`);
  lookNow();
}

const updated = byId('updated');
const pause = byId('pause');
const failure = byId('failure');
const news = byId('news');
let paused = false;
/** Ends the wait for the next update. @type {() => void} */
let lookNow = () => {};
/** The query of the address that the page shows. */
let shownQuery = location.search;
let lastResponse = new Date();

byId('updates')?.removeAttribute('hidden');
pause?.addEventListener('click', () => {
  paused = !paused;
  pause.setAttribute('aria-pressed', String(paused));
  if (!paused) lookNow();
});
document.addEventListener('visibilitychange', () => {
  if (!document.hidden) lookNow();
});
void keepUpToDate();

/** Updates every 10 s, except while the page is hidden or the reader has paused it; and at once what the reader chooses. */
async function keepUpToDate() {
  sayWhen();
  for (;;) {
    if (location.search === shownQuery) {
      await new Promise((resolve) => {
        const timer = setTimeout(resolve, EVERY_MS);
        lookNow = () => {
          clearTimeout(timer);
          resolve(undefined);
        };
      });
    }
    const query = location.search;
    if (query === shownQuery && (document.hidden || paused)) continue;
    // A view that cannot be loaded is requested again with the next update and not at once.
    shownQuery = query;
    try {
      await update();
      lastResponse = new Date();
      show(failure, '');
      sayWhen();
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      show(
        failure,
        `No response from the exporter (${why}). The page shows the state at ${lastResponse.toLocaleTimeString()}.`,
      );
    }
  }
}

function sayWhen() {
  if (updated !== null) updated.textContent = `Updated ${lastResponse.toLocaleTimeString()}`;
}

/** @type {(place: HTMLElement | null, text: string) => void} */
function show(place, text) {
  if (place === null || place.textContent === text) return;
  place.textContent = text;
  if (place === failure) place.hidden = text === '';
}

async function update() {
  const query = location.search;
  const address = location.pathname + query;
  const response = await fetch(address, { cache: 'no-store', signal: AbortSignal.timeout(PATIENCE_MS) });
  if (!response.ok) throw new Error(`it returned ${response.status}`);
  const fresh = new DOMParser().parseFromString(await response.text(), 'text/html');
  // The reader has chosen another view in the meantime.
  if (location.search !== query) return;
  // The exporter was updated, so the script is old too.
  if (fresh.getElementById('made')?.dataset.build !== byId('made')?.dataset.build) {
    location.reload();
    return;
  }
  announceStates(fresh);
  const open = new Set([...document.querySelectorAll('details[open] > summary')].map(placeOf));
  const focused = placeOf(document.activeElement);
  for (const next of fresh.querySelectorAll('[data-live]')) {
    const old = byId(next.id);
    if (old === null) document.querySelector('.cards')?.append(next);
    else if (!old.isEqualNode(next)) old.replaceWith(next);
  }
  const known = new Map([...document.querySelectorAll('#rows > tr')].map((row) => [row.id, row]));
  const rows = [...fresh.querySelectorAll('#rows > tr')].map((next) => {
    const old = known.get(next.id);
    if (old === undefined) return next;
    // A cell that does not change is kept, so that a selection in it stays.
    for (const [index, cell] of [...next.children].entries()) {
      if (!old.children[index]?.isEqualNode(cell)) old.children[index]?.replaceWith(cell);
    }
    return old;
  });
  const body = byId('rows');
  const isSame = rows.length === body?.children.length && rows.every((row, index) => row === body.children[index]);
  if (!isSame) body?.replaceChildren(...rows);
  // Screen readers announce each change, so it is only written when it changes.
  show(byId('shown'), fresh.getElementById('shown')?.textContent ?? '');
  for (const element of document.querySelectorAll(CHOICES)) {
    const place = placeOf(element);
    if (open.has(place)) element.parentElement?.setAttribute('open', '');
    if (place === focused) /** @type {HTMLElement} */ (element).focus({ preventScroll: true });
  }
}

/** What a reader can fold out or focus in a row or a card. */
const CHOICES = ':is(tbody > tr, [data-live]) :is(summary, a)';

/** Where it stands: the row or card, and how many are before it there. @param {Element | null} element */
function placeOf(element) {
  const owner = element?.closest('tbody > tr[id], [data-live]');
  if (!element || !owner) return undefined;
  return `${owner.id} ${[...owner.querySelectorAll('summary, a')].indexOf(element)}`;
}

/** Says aloud when a service went down or came back; all else changes in silence. @param {Document} fresh */
function announceStates(fresh) {
  const changed = [...fresh.querySelectorAll('section[data-state]')].flatMap((next) => {
    const state = /** @type {HTMLElement} */ (next).dataset.state;
    const name = next.querySelector('h2')?.firstChild?.textContent?.trim();
    return byId(next.id)?.dataset.state === state ? [] : [`${name} is ${state === 'waiting' ? 'waiting' : state}.`];
  });
  if (changed.length > 0) show(news, changed.join(' '));
}
