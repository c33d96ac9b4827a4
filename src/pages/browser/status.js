/**
 * Sorts and filters the fleet on the status page, and keeps the page up to date. The server produces every piece of
 * HTML; this script only replaces rows, cards and the time. The reader's choices stay: sort, filter, scroll position,
 * focus, open details. Work that grows with the fleet is split into short turns, so that the page stays responsive.
 */

/** Milliseconds between two updates. */
const EVERY_MS = 10_000;

/** The time limit of an update, in milliseconds. */
const PATIENCE_MS = 8_000;

/** Rows that are replaced in one turn. */
const ROWS_A_TURN = 50;

/** Rows that are moved in one turn. */
const MOVED_A_TURN = 200;

/** Milliseconds between the last key and the filter. */
const TYPING_MS = 80;

/** @type {<T extends HTMLElement>(id: string) => T | null} */
const byId = (id) => /** @type {any} */ (document.getElementById(id));

const body = byId('rows');
const shown = byId('shown');
const words = /** @type {HTMLInputElement | null} */ (byId('words'));
const kind = /** @type {HTMLSelectElement | null} */ (byId('kind'));
const headers = [...document.querySelectorAll('.fleet thead th')];
const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' });
const parser = new DOMParser();

/** @type {HTMLElement[]} In the order shown. */
let rows = body === null ? [] : /** @type {HTMLElement[]} */ ([...body.querySelectorAll('tr')]);

/** The target order of the current move: a later one ends the move. */
let moving = rows;

/** What each row says, in lower case. @type {WeakMap<Element, string>} */
const texts = new WeakMap();

/** The line of HTML that each row was last made from. @type {Map<string, string>} */
const lines = new Map();

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
  if (ordered.every((row, index) => row === rows[index] && row.parentNode === body)) return;
  rows = ordered;
  void move(rows, body);
}

/**
 * Moves the rows to their places from the top on, what is in sight first.
 * @type {(ordered: HTMLElement[], into: HTMLElement) => Promise<void>}
 */
async function move(ordered, into) {
  moving = ordered;
  for (let at = 0; at < ordered.length; at += MOVED_A_TURN) {
    if (at > 0) await nextTurn();
    if (moving !== ordered) return;
    const focused = document.activeElement;
    const some = ordered.slice(at, at + MOVED_A_TURN);
    if (at === 0) into.prepend(...some);
    else ordered[at - 1]?.after(...some);
    if (focused instanceof HTMLElement && focused !== document.activeElement && into.contains(focused)) {
      focused.focus({ preventScroll: true });
    }
  }
}

function nextTurn() {
  return new Promise((resolve) => setTimeout(resolve));
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
    const matches = isOfKind(row, chosen) && wanted.every((word) => textOf(row).includes(word));
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
  return chosen !== 'resting' || row.querySelector('details') !== null;
}

/** @param {HTMLElement} row */
function textOf(row) {
  const known = texts.get(row);
  if (known !== undefined) return known;
  const text = (row.textContent ?? '').toLowerCase();
  texts.set(row, text);
  return text;
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
  const text = await answer.text();
  const [head = '', rest] = text.split(/(?<=<tbody [^>]*id="rows">)\n/);
  const [lineText = '', tail = ''] = rest?.split(/(?=<\/tbody><\/table><\/section>)/) ?? [];
  const fresh = parser.parseFromString(head + tail, 'text/html');
  const build = byId('made')?.dataset.build;
  // Another version has another script, and a table that appears or disappears is simplest to reload.
  if (fresh.getElementById('made')?.dataset.build !== build || (rest === undefined) !== (body === null)) {
    location.reload();
    return;
  }
  tellOfStates(fresh);
  for (const next of fresh.querySelectorAll('[data-live]')) {
    const old = byId(next.id);
    if (old === null) homeOf(next)?.append(next);
    else take(old, next);
  }
  if (body !== null) await takeRows(lineText.split('\n').filter(Boolean));
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

/** @param {string[]} fresh */
async function takeRows(fresh) {
  const known = new Map(rows.map((row) => [row.id, row]));
  for (let at = 0; at < fresh.length; at += ROWS_A_TURN) {
    const some = fresh.slice(at, at + ROWS_A_TURN).filter((line) => lines.get(idOf(line)) !== line);
    if (some.length === 0) continue;
    const table = parser.parseFromString(`<table><tbody>${some.join('')}</tbody></table>`, 'text/html');
    for (const [index, next] of [...table.querySelectorAll('tbody > tr')].entries()) {
      const line = some[index] ?? '';
      lines.set(next.id, line);
      const old = known.get(next.id);
      if (old === undefined) rows.push(/** @type {HTMLElement} */ (document.adoptNode(next)));
      else {
        take(old, next);
        texts.delete(old);
      }
    }
    await nextTurn();
  }
  const there = new Set(fresh.map(idOf));
  // The move may contain rows that are removed here: the sort below starts a new one.
  if (rows.some((row) => !there.has(row.id))) moving = [];
  for (const row of rows) {
    if (there.has(row.id)) continue;
    lines.delete(row.id);
    row.remove();
  }
  rows = rows.filter((row) => there.has(row.id));
  sort();
  filter();
}

/** @param {string} line */
function idOf(line) {
  return /^<tr [^>]*?\bid="([^"]*)"/.exec(line)?.[1] ?? '';
}

/**
 * Makes `old` say what `next` says, and leaves alone what is equal: focus, selection and what is folded out stay.
 * @type {(old: Element, next: Element) => void}
 */
function take(old, next) {
  for (const { name, value } of next.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  for (const { name } of [...old.attributes]) {
    // Open details and hidden rows are the reader's choice, not the server's.
    if (!next.hasAttribute(name) && name !== 'open' && name !== 'hidden') old.removeAttribute(name);
  }
  const wanted = [...next.childNodes];
  for (const [index, child] of wanted.entries()) {
    const place = old.childNodes[index];
    if (place === undefined) old.append(child);
    else if (place instanceof Element && child instanceof Element && place.tagName === child.tagName)
      take(place, child);
    else if (place instanceof Text && child instanceof Text) {
      if (place.data !== child.data) place.data = child.data;
    } else place.replaceWith(child);
  }
  while (old.childNodes.length > wanted.length) old.lastChild?.remove();
}
