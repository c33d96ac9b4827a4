import { COLUMNS } from './fleet-view.ts';

/** Where a narrow page lays rows out as a grid, each cell after name and state has the name of its column. */
const NAMED_CELLS = Object.values(COLUMNS).map((name, index) =>
  index < 2 ? '' : `  .fleet td:nth-child(${index + 1})::before { content: '${name}'; }`,
);

/** The style of all pages, light and dark. The contrast of text is at least 4.5 to 1. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --back: #f6f8fa; --card: #fff; --line: #d1d9e0; --text: #1f2328; --muted: #59636e; --link: #0757ba; --head: #eef1f4;
  --up: #116329; --up-back: #dafbe1; --down: #a40e26; --down-back: #ffe3e0; --waiting: #4d5561; --waiting-back: #e6eaef;
  font: 15px/1.5 system-ui, -apple-system, 'Segoe UI', Roboto, 'Liberation Sans', sans-serif;
}
@media (prefers-color-scheme: dark) {
  :root {
    --back: #0d1117; --card: #151b23; --line: #3d444d; --text: #f0f6fc; --muted: #9aa4af; --link: #79b8ff; --head: #1c232c;
    --up: #4fd968; --up-back: #10291a; --down: #ff938a; --down-back: #3c1618; --waiting: #b1bac4; --waiting-back: #262c36;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--text); }
a { color: var(--link); }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; border-radius: 3px; }
main:focus { outline: none; }
.skip { position: absolute; left: -999rem; padding: .5rem 1rem; background: var(--card); z-index: 2; }
.skip:focus { left: 0; }
.visually-hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.top { padding: .6rem 1.5rem; border-bottom: 1px solid var(--line); background: var(--card); }
.brand { font-weight: 650; color: inherit; text-decoration: none; }
.brand:hover { text-decoration: underline; }
.version, .muted, .none { color: var(--muted); }
main { max-width: 100rem; margin: 0 auto; padding: 1rem 1.5rem 3rem; }
h1 { margin: .3rem 0; font-size: 1.6rem; line-height: 1.2; }
h2 { margin: 0; font-size: 1.15rem; }
p { margin: .3rem 0; }
code { font: .87em/1.4 ui-monospace, SFMono-Regular, Menlo, Consolas, 'Liberation Mono', monospace; overflow-wrap: anywhere; }
/* One click selects what people copy: a serial, an error. */
.fleet code, .error { user-select: all; }
h2 code { color: var(--muted); font-weight: 400; }
.card, .fleet { background: var(--card); border: 1px solid var(--line); border-radius: 8px; }
.card { padding: .6rem 1.2rem; }
.card > details > summary h2 { display: inline; }
.head { display: flex; flex-wrap: wrap; gap: .5rem 1.5rem; align-items: center; justify-content: space-between; }
.controls { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: center; }
[hidden] { display: none !important; }
button, input {
  font: inherit; color: inherit; background: var(--card); border: 1px solid var(--muted); border-radius: 6px; padding: .2rem .6rem;
}
::placeholder { color: var(--muted); opacity: 1; }
input[type='search'] { width: 18rem; max-width: 100%; }
.failure { padding: .6rem 1rem; border-radius: 8px; color: var(--down); background: var(--down-back); font-weight: 600; }
.badge { display: inline-block; padding: 0 .6rem; border-radius: 1rem; font-size: .85rem; font-weight: 600; white-space: nowrap; }
.badge::before { content: '● ' / ''; }
.badge.down::before, .badge.no_records::before { content: '▲ ' / ''; }
.badge.waiting::before, .badge.unknown::before { content: '○ ' / ''; }
.badge.up { color: var(--up); background: var(--up-back); }
.badge.down, .badge.no_records { color: var(--down); background: var(--down-back); }
.badge.waiting, .badge.unknown { color: var(--waiting); background: var(--waiting-back); }
.error { color: var(--down); overflow-wrap: anywhere; }
.tiles { display: grid; grid-template-columns: repeat(8, 1fr); gap: .6rem; margin: .8rem 0; }
.tile { padding: .4rem 1rem; color: var(--text); background: var(--card); border: 1px solid var(--line); border-radius: 8px; text-decoration: none; }
.tile:hover { border-color: var(--link); }
.tile[aria-current] { border-color: var(--link); box-shadow: inset 0 -3px var(--link); }
.tile span { display: block; color: var(--muted); font-size: .87rem; }
.tile strong { font-size: 1.5rem; font-weight: 400; line-height: 1.2; font-variant-numeric: tabular-nums; }
.tile.up strong { color: var(--up); }
.tile.down strong, .tile.no_records strong, .tile.error strong { color: var(--down); }
.pages { margin-top: .6rem; }
.pages a { margin-left: .6rem; }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 30rem), 1fr)); gap: .6rem; align-items: start; }
.facts { margin: .6rem 0 0; }
.facts > div { display: grid; grid-template-columns: 9.5rem minmax(0, 1fr); gap: 0 1rem; padding: .2rem 0; }
dt { color: var(--muted); }
dd { margin: 0; font-variant-numeric: tabular-nums; }
meter { width: 6rem; height: .9rem; vertical-align: middle; }
summary { cursor: pointer; }
.card details details { margin-top: .5rem; }
.small { border-collapse: collapse; width: 100%; margin-top: .3rem; }
.small th, .small td { text-align: left; vertical-align: top; font-weight: 400; padding: .2rem .8rem .2rem 0; border-top: 1px solid var(--line); }
.small thead th { color: var(--muted); border: 0; }
.small .number:last-child { padding-right: 0; }
.notice { margin: 0 0 1rem; padding: .1rem 1rem; border: 1px solid var(--line); border-left: .3rem solid var(--link); border-radius: .4rem; }
.small .number { text-align: right; font-variant-numeric: tabular-nums; }
.fleet, .fleet thead, .fleet tbody { display: block; }
.fleet { margin-top: .6rem; font-size: .93rem; }
.fleet tr {
  display: grid; align-items: start; border-top: 1px solid var(--line);
  grid-template-columns: minmax(7rem, 1.2fr) 8.2rem minmax(6rem, 19.6rem) minmax(4.5rem, .8fr) 6.6rem 7.6rem minmax(7rem, 1.4fr) minmax(7rem, 2.1fr);
}
.fleet tbody { overflow-anchor: none; }
.fleet thead { position: sticky; top: 0; z-index: 1; }
.fleet thead tr { border: 0; border-radius: 8px 8px 0 0; background: var(--head); }
.fleet th, .fleet td { padding: .3rem .7rem; text-align: left; font-weight: 400; min-width: 0; overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
.fleet thead th, .fleet tbody th { font-weight: 600; }
.fleet thead a { color: inherit; text-decoration: none; white-space: nowrap; }
.fleet thead a:hover { text-decoration: underline; }
.fleet [aria-sort='ascending'] a::after { content: ' ↑' / ''; }
.fleet [aria-sort='descending'] a::after { content: ' ↓' / ''; }
.fleet details dl { margin: .2rem 0 0; font-size: .93em; }
@media (max-width: 44rem) {
  main { padding: .6rem .8rem 2rem; }
  .tiles { grid-template-columns: repeat(4, 1fr); gap: .4rem; }
  .tile { padding: .2rem .6rem; }
  .tile strong { font-size: 1.2rem; }
  .card { padding: .4rem .8rem; }
}
@media (max-width: 62rem) {
  .fleet thead { position: static; }
  .fleet thead tr { display: flex; flex-wrap: wrap; }
  .fleet tbody tr { grid-template-columns: 1fr 1fr; padding: .4rem 0; }
  .fleet tbody td::before { display: block; color: var(--muted); font-size: .85em; }
  .fleet td:last-child { grid-column: 1 / -1; }
${NAMED_CELLS.join('\n')}
}
.lead { font-size: 1.1rem; }
.links { list-style: none; display: grid; gap: .5rem; }
.links a { display: inline-block; min-width: 9rem; font-weight: 600; }
@media (prefers-contrast: more) { :root { --line: var(--muted); } }
@media print { .controls, .skip { display: none; } }
`;
