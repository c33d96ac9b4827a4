/** The style of all pages, light and dark. The contrast of text is at least 4.5 to 1. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --back: light-dark(#f6f8fa, #0d1117); --card: light-dark(#fff, #151b23); --line: light-dark(#d1d9e0, #3d444d);
  --text: light-dark(#1f2328, #f0f6fc); --muted: light-dark(#59636e, #9aa4af); --link: light-dark(#0757ba, #79b8ff);
  --up: light-dark(#116329, #4fd968); --up-back: light-dark(#dafbe1, #10291a);
  --down: light-dark(#a40e26, #ff938a); --down-back: light-dark(#ffe3e0, #3c1618); --other-back: light-dark(#e6eaef, #262c36);
  font: 15px/1.5 system-ui, sans-serif;
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--text); }
a { color: var(--link); }
header { padding: .6rem 1.5rem; border-bottom: 1px solid var(--line); background: var(--card); }
header a { font-weight: 650; color: inherit; text-decoration: none; }
main { max-width: 100rem; margin: 0 auto; padding: 1rem 1.5rem 3rem; }
h1, h2 { margin: 0; font-size: 1.2rem; }
p { margin: .3rem 0; }
code { font: .87em/1.4 ui-monospace, monospace; overflow-wrap: anywhere; }
.muted { color: var(--muted); font-weight: 400; }
.error { color: var(--down); overflow-wrap: anywhere; }
/* One click selects what people copy: a serial, an error. */
td code, .error { user-select: all; }
.card, .tile { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: .6rem 1.2rem; margin: .6rem 0; }
.notice { border-left: .3rem solid var(--link); }
.head { display: flex; flex-wrap: wrap; gap: .5rem 1.5rem; align-items: center; justify-content: space-between; }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 34rem), 1fr)); gap: 0 .6rem; align-items: start; }
button, input { font: inherit; color: inherit; background: var(--card); border: 1px solid var(--muted); border-radius: 6px; padding: .2rem .6rem; }
input { width: 18rem; max-width: 100%; }
.badge { padding: 0 .6rem; border-radius: 1rem; font-size: .85rem; font-weight: 600; white-space: nowrap; background: var(--other-back); }
.badge.up { color: var(--up); background: var(--up-back); }
.badge.down { color: var(--down); background: var(--down-back); }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(8rem, 1fr)); gap: 0 .6rem; }
.tile { color: inherit; text-decoration: none; }
.tile[aria-current] { border-color: var(--link); box-shadow: inset 0 -3px var(--link); }
.tile strong { display: block; font-size: 1.5rem; font-weight: 400; line-height: 1.2; }
.tile.up strong { color: var(--up); }
.tile.down strong, .tile.error strong { color: var(--down); }
dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .2rem 1rem; margin: .6rem 0; }
dt { color: var(--muted); }
dd { margin: 0; }
.wide { overflow-x: auto; }
time, td > code { white-space: nowrap; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; vertical-align: top; font-weight: 400; padding: .2rem .8rem .2rem 0; border-top: 1px solid var(--line); }
thead th { color: var(--muted); border: 0; white-space: nowrap; }
`;
