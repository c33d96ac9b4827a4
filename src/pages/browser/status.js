/**
 * Sorts and filters the fleet on the status page, and keeps the page up to date. The server produces every piece of
 * HTML; this script only exchanges rows, cards and the time. The reader's choices stay: sort, filter, scroll position,
 * focus, open details.
 */

/** Milliseconds between two updates. */
const EVERY_MS = 10_000;

/** The time limit of an update, in milliseconds. */
const PATIENCE_MS = 8_000;

/** Milliseconds between the last key and the filter. */
const TYPING_MS = 80;

/** @type {<T extends HTMLElement>(id: string) => T | null} */
const byId = (id) => /** @type {any} */ (document.getElementById(id));

const body = /** @type {HTMLTableSectionElement | null} */ (byId('rows'));
const shown = byId('shown');
const words = /** @type {HTMLInputElement | null} */ (byId('words'));
const kind = /** @type {HTMLSelectElement | null} */ (byId('kind'));
const headers = [...document.querySelectorAll('.fleet thead th')];
const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' });

/** In the order shown. */
let rows = rowsOf(body);

let column = 0;
let descending = false;

restore();
for (const [index, header] of headers.entries()) {
  const button = document.createElement('button');
  button.type = 'button';
  button.append(...header.childNodes);
  header.append(button);
  button.addEventListener('click', () => {
    descending = column === index && !descending;
    column = index;
    remember();
    sort();
  });
}
for (const control of document.querySelectorAll('.controls')) /** @type {HTMLElement} */ (control).hidden = false;
byId('filter')?.addEventListener('submit', (event) => event.preventDefault());
let typing = 0;
words?.addEventListener('input', () => {
  clearTimeout(typing);
  typing = setTimeout(filterAndRemember, TYPING_MS);
});
kind?.addEventListener('change', filterAndRemember);
sort();
filter();

/** Sort and filter are in the `#` part of the address: they survive a reload and can be bookmarked. */
function restore() {
  const kept = new URLSearchParams(location.hash.slice(1));
  const found = headers.findIndex((header) => header.textContent === kept.get('sort'));
  if (found >= 0) column = found;
  descending = kept.get('order') === 'descending';
  if (words !== null) words.value = kept.get('filter') ?? '';
  if (kind !== null) kind.value = kept.get('show') ?? '';
  if (kind?.selectedIndex === -1) kind.value = '';
}

function remember() {
  const kept = new URLSearchParams();
  if (column > 0 || descending) kept.set('sort', headers[column]?.textContent ?? '');
  if (descending) kept.set('order', 'descending');
  if (words?.value) kept.set('filter', words.value);
  if (kind?.value) kept.set('show', kind.value);
  const text = kept.toString();
  history.replaceState(null, '', text === '' ? location.pathname : `#${text}`);
}

function filterAndRemember() {
  remember();
  filter();
}

/** Sorts the rows; those without a value are last in both directions. */
function sort() {
  if (body === null) return;
  for (const [index, header] of headers.entries()) {
    if (index !== column) header.removeAttribute('aria-sort');
    else header.setAttribute('aria-sort', descending ? 'descending' : 'ascending');
  }
  const numeric = /** @type {HTMLElement | undefined} */ (headers[column])?.dataset.sort === 'number';
  const keyed = rows.map((row) => {
    const cell = /** @type {HTMLElement | undefined} */ (row.children[column]);
    const value = cell?.dataset.v ?? cell?.textContent ?? '';
    return { row, value: numeric ? Number.parseFloat(value) : value, name: row.children[0]?.textContent ?? '' };
  });
  const sign = descending ? -1 : 1;
  keyed.sort((a, b) => {
    const empty = Number(isEmpty(a.value)) - Number(isEmpty(b.value));
    return empty || sign * compare(a.value, b.value) || collator.compare(a.name, b.name);
  });
  const ordered = keyed.map(({ row }) => row);
  rows = ordered;
  if (rows.length === body.rows.length && rows.every((row, index) => row === body.rows[index])) return;
  body.replaceChildren(...rows);
}

/** @type {(body: HTMLElement | null) => HTMLElement[]} */
function rowsOf(body) {
  return body === null ? [] : [...body.querySelectorAll('tr')];
}

/** @param {string | number} value */
function isEmpty(value) {
  return value === '' || value === '–' || Number.isNaN(value);
}

/** @type {(a: string | number, b: string | number) => number} */
function compare(a, b) {
  return typeof a === 'number' && typeof b === 'number' ? a - b || 0 : collator.compare(String(a), String(b));
}

/** Shows the rows of the chosen kind that contain every typed word. */
function filter() {
  if (body === null) return;
  const wanted = (words?.value ?? '').toLowerCase().split(/\s+/).filter(Boolean);
  const chosen = kind?.value ?? '';
  let matching = 0;
  for (const row of rows) {
    const text = (row.textContent ?? '').toLowerCase();
    const matches = isOfKind(row, chosen) && wanted.every((word) => text.includes(word));
    if (row.hidden === matches) row.hidden = !matches;
    if (matches) matching += 1;
  }
  const text = `${matching.toLocaleString('en')} of ${rows.length.toLocaleString('en')}`;
  // Screen readers announce each change, so it is only written when it changes.
  if (shown !== null && shown.textContent !== text) shown.textContent = text;
}

/** @type {(row: HTMLElement, chosen: string) => boolean} */
function isOfKind(row, chosen) {
  if (chosen === 'down' || chosen === 'no_records') return row.dataset.state === chosen;
  if (chosen === 'error') return row.querySelector('.error') !== null;
  return chosen !== 'suspended' || row.querySelector('details') !== null;
}

const updated = byId('updated');
const pause = byId('pause');
const trouble = byId('trouble');
const news = byId('news');
let paused = false;
/** Ends the wait for the next look. @type {() => void} */
let lookNow = () => {};
let lastAnswer = new Date();

pause?.addEventListener('click', () => {
  paused = !paused;
  pause.setAttribute('aria-pressed', String(paused));
  if (!paused) lookNow();
});
document.addEventListener('visibilitychange', () => {
  if (!document.hidden) lookNow();
});
void keepUpToDate();

/** Updates again and again, except while the page is hidden or the reader has paused it. */
async function keepUpToDate() {
  sayWhen();
  for (;;) {
    await new Promise((resolve) => {
      const timer = setTimeout(resolve, EVERY_MS);
      lookNow = () => {
        clearTimeout(timer);
        resolve(undefined);
      };
    });
    if (document.hidden || paused) continue;
    try {
      await update();
      lastAnswer = new Date();
      tell(trouble, '');
      sayWhen();
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      tell(
        trouble,
        `No answer from the exporter (${why}). The page shows the state at ${lastAnswer.toLocaleTimeString()}.`,
      );
    }
  }
}

function sayWhen() {
  if (updated !== null) updated.textContent = `Updated ${lastAnswer.toLocaleTimeString()}`;
}

/** @type {(place: HTMLElement | null, text: string) => void} */
function tell(place, text) {
  if (place === null || place.textContent === text) return;
  place.textContent = text;
  if (place === trouble) place.hidden = text === '';
}

async function update() {
  const answer = await fetch(location.pathname, { cache: 'no-store', signal: AbortSignal.timeout(PATIENCE_MS) });
  if (!answer.ok) throw new Error(`it answered ${answer.status}`);
  const fresh = new DOMParser().parseFromString(await answer.text(), 'text/html');
  const freshBody = fresh.getElementById('rows');
  const build = byId('made')?.dataset.build;
  // Another version has another script, and a table that appears or disappears is simplest to reload.
  if (fresh.getElementById('made')?.dataset.build !== build || (freshBody === null) !== (body === null)) {
    location.reload();
    return;
  }
  tellOfStates(fresh);
  const open = new Set([...document.querySelectorAll('details[open] > summary')].map(placeOf));
  const focused = placeOf(document.activeElement);
  for (const next of fresh.querySelectorAll('[data-live]')) {
    const old = byId(next.id);
    if (old === null) homeOf(next)?.append(next);
    else old.replaceWith(next);
  }
  const known = new Map(rows.map((row) => [row.id, row]));
  rows = rowsOf(freshBody).map((next) => {
    const old = known.get(next.id);
    if (old === undefined) return next;
    for (const { name, value } of next.attributes) old.setAttribute(name, value);
    // The browser remembers the height of a row out of sight, and what is selected in a cell that stays.
    for (const [index, cell] of [...next.children].entries()) {
      if (!old.children[index]?.isEqualNode(cell)) old.children[index]?.replaceWith(cell);
    }
    return old;
  });
  filter();
  sort();
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

/** Where a card that is new belongs. @param {Element} next */
function homeOf(next) {
  return document.querySelector(next.classList.contains('card') ? '.cards' : 'main');
}

/** Says aloud when a service went down or came back; all else changes in silence. @param {Document} fresh */
function tellOfStates(fresh) {
  const changed = [...fresh.querySelectorAll('section[data-state]')].flatMap((next) => {
    const state = /** @type {HTMLElement} */ (next).dataset.state;
    const name = next.querySelector('h2')?.firstChild?.textContent?.trim();
    return byId(next.id)?.dataset.state === state ? [] : [`${name} is ${state === 'waiting' ? 'waiting' : state}.`];
  });
  if (changed.length > 0) tell(news, changed.join(' '));
}
