"use strict";
// What a page does with or without a server: words light up, a click on an order shows it, code is copied.

const byId = id => document.getElementById(id);
const MOVING = 350; // milliseconds
const MOST_MOVING = 4000; // beyond, things jump
const NUMBERS = /-?\d+(?:\.\d+)?/g;

// Pointing at a word lights it up everywhere.

function light(event, on) {
  const from = event.target.closest?.("[data-word]");
  if (!from) return;
  for (const other of document.querySelectorAll(`[data-word="${from.dataset.word}"]`)) other.classList.toggle("lit", on);
  for (const lines of document.querySelectorAll(".lines")) lines.classList.toggle("some-lit", on);
}
for (const [name, on] of [["pointerover", true], ["pointerout", false], ["focusin", true], ["focusout", false]])
  document.addEventListener(name, event => light(event, on));

// Diagrams move: of whatever is in the old and in the new one, all numbers go from the old to the new ones.

const nameOfPart = (svg, group, part) =>
  [...svg.classList, group.classList[0], part.getAttribute("class"), group.dataset.word].join();

const partsOf = function* () {
  for (const svg of document.querySelectorAll("svg[role=img]"))
    if (svg.getClientRects().length)
      for (const part of svg.querySelectorAll("g[data-word] > *"))
        yield [nameOfPart(svg, part.parentNode, part), part];
};
const numbersOf = part => Object.fromEntries(["x", "y", "d"].map(name => [name, part.getAttribute(name) ?? ""]));

function places() {
  return new Map([...partsOf()].map(([key, part]) => [key, numbersOf(part)]));
}

let frame = 0;

function move(from) {
  cancelAnimationFrame(frame);
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  const moves = [];
  for (const [key, part] of partsOf()) {
    const old = from.get(key);
    if (!old) {
      part.animate([{ opacity: 0 }, { opacity: 1 }], MOVING);
      continue;
    }
    for (const [name, value] of Object.entries(numbersOf(part))) {
      const a = old[name].match(NUMBERS) ?? [], b = value.match(NUMBERS) ?? [];
      if (old[name] !== value && a.length === b.length)
        moves.push({ part, name, value, a: a.map(Number), b: b.map(Number) });
    }
  }
  if (moves.length > MOST_MOVING) return;
  const start = performance.now();
  const step = now => {
    const t = Math.min((now - start) / MOVING, 1), share = 1 - (1 - t) ** 3;
    for (const { part, name, value, a, b } of moves) {
      const between = a.map((from, i) => (from + share * (b[i] - from)).toFixed(1));
      part.setAttribute(name, t === 1 ? value : value.replace(NUMBERS, () => between.shift()));
    }
    if (t < 1) frame = requestAnimationFrame(step);
  };
  if (moves.length) step(start);
}

// One of the orders. Its parts change places with those that are shown.

const shelfOf = rank => document.querySelector(`template[data-rank="${rank}"]`).content;
const shownRank = () => document.querySelector("tr.shown").dataset.rank;

function show(rank) {
  const from = places(), shelf = shelfOf(shownRank());
  for (const part of [...shelfOf(rank).children]) {
    const old = byId(part.id);
    old.replaceWith(part);
    shelf.append(old);
  }
  for (const row of document.querySelectorAll("tr[data-rank]")) {
    const isShown = row.dataset.rank === String(rank);
    row.classList.toggle("shown", isShown);
    row.querySelector(".choose").setAttribute("aria-pressed", isShown);
  }
  move(from);
  document.dispatchEvent(new CustomEvent("shown", { detail: rank }));
}
document.addEventListener("click", event => {
  const row = event.target.closest("tr[data-rank]");
  if (row && !event.target.closest("details")) show(row.dataset.rank);
});

// Copying.

document.addEventListener("click", async event => {
  const button = event.target.closest("[data-copies]");
  if (!button) return;
  const source = byId(button.dataset.copies);
  try {
    await navigator.clipboard.writeText(source.textContent);
    button.textContent = "Copied";
  } catch { // not allowed: let the reader do it
    getSelection().selectAllChildren(source);
    button.textContent = "Selected: press Ctrl+C";
  }
});

// Paper has nothing to click on.
addEventListener("beforeprint", () => { for (const part of document.querySelectorAll("details")) part.open = true; });
