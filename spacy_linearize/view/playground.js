"use strict";
// The playground: every change makes a new bag, the server orders it, and its answer takes the place of the old one.
// Texts of words go into the page as textContent, or come escaped from the server.

const NAMES = JSON.parse(byId("names").textContent); // tags and labels that the pipeline knows
const DRAG = 6; // pixels until a press is a drag
const PRESS = 300; // milliseconds until that of a finger is one: before, it scrolls
const EDGE = 60; // pixels from the edge of the window in which a drag scrolls
let bag = JSON.parse(byId("json").textContent); // the one that is shown
let asking = new AbortController();
let turn = Promise.resolve(); // of the next change
let bags = 0; // that were typed
let moved = []; // where the words of a bag went, each time that they were put elsewhere
const past = [];
let chosen = []; // words of the bag, in the sequence in which they were chosen

const tiles = () => [...document.querySelectorAll(".bag li")];
const tileOf = word => document.querySelector(`.bag li[data-word="${word}"] .tile`);
const rowOf = word => document.querySelector(`#words tr[data-word="${word}"]`).dataset;
const nameOf = word => bag.words[word];
const say = text => { byId("status").textContent = text; };

// Asking the server

async function post(address, content) {
  const answer = await fetch(address, {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(content), signal: asking.signal,
  });
  const text = await answer.text();
  if (answer.ok) return text;
  let problem = text;
  try { problem = JSON.parse(text).error; } catch { /* not one of ours */ }
  throw new Error(problem || "The server does not answer.");
}

function complain(text) {
  // Words are named by their texts: tiles count from 1, programs from 0.
  byId("problem").textContent = text.replace(/^\[SL\d+\] /, "").replace(/\bword \d+ (?=')/g, "");
  byId("problem").hidden = !text;
}

async function ask(next, note = "") {
  const own = asking;
  document.body.setAttribute("aria-busy", "true");
  try {
    const html = await post("page", next);
    const before = bag;
    replace(new DOMParser().parseFromString(html, "text/html"));
    complain("");
    say(`${note ? note + ". " : ""}${byId("sentence").querySelector("h1").textContent}`);
    return before;
  } catch (problem) {
    if (problem.name === "AbortError") return null;
    complain(problem instanceof TypeError ? "The server does not answer. Is it still running?" : problem.message);
    return null;
  } finally {
    if (own === asking) document.body.removeAttribute("aria-busy");
  }
}

// Does something with some words when all changes before it are answered: it may have to look for them elsewhere then.
function inTurn(words, act) {
  const own = bags, since = moved.length;
  turn = turn.then(() => {
    if (own !== bags) return null; // these words are gone
    return act(...words.map(word => moved.slice(since).reduce((at, place) => place[at], word)));
  }).catch(problem => complain(problem.message));
  return turn;
}

async function change(edit, note) {
  const next = structuredClone(bag);
  edit(next);
  const before = await ask(next, note);
  keep(before);
  return before;
}

// Keeps the bag before a change, if the server has accepted it.
function keep(before) {
  if (before) past.push(before);
  byId("undo").hidden = !past.length;
}

// Another bag: what was asked for before it does not count any more.
function instead(next, note) {
  asking.abort();
  asking = new AbortController();
  bags += 1;
  moved = [];
  turn = turn.then(() => ask(next, note));
  return turn;
}

async function undo() {
  const before = past.pop();
  if (before) await instead(before, "Taken back");
  byId("undo").hidden = !past.length;
}

function replace(answer) {
  const focus = nameOfFocus(), from = places();
  for (const part of answer.body.querySelectorAll(":scope > [id]")) byId(part.id)?.replaceWith(part);
  byId("orders-kept").replaceChildren(...answer.querySelectorAll("template"));
  bag = JSON.parse(byId("json").textContent);
  chosen = chosen.filter(word => word < bag.words.length);
  byId("why").hidden = true;
  history.replaceState(null, "", "#" + encodeURIComponent(JSON.stringify(bag)));
  showChosen();
  move(from);
  const at = focus && document.querySelector(focus);
  at?.focus({ preventScroll: true });
  if (at?.classList.contains("tile")) reach(at);
}

function nameOfFocus() {
  const at = document.activeElement;
  if (at.classList.contains("tile")) return `.bag li[data-word="${at.parentNode.dataset.word}"] .tile`;
  if (at.closest("tr[data-rank]")) return `tr[data-rank="${at.closest("tr").dataset.rank}"] .choose`;
  return at.dataset.remove ? ".bag .tile[tabindex='0']" : null;
}

// Changes. Each takes a bag and alters it.

const column = (one, key) => (one[key] ??= one.words.map(() => null));

const pin = (word, place) => inTurn([word], at => change(one => {
  for (const key of ["first", "last"]) if (one[key] === at) delete one[key];
  if (place) one[place] = at;
}, place ? `${nameOf(at)} comes ${place}` : `${nameOf(at)} may stand anywhere`));

const putBefore = (first, second) => first !== second && inTurn([first, second], (a, b) => change(one => {
  const others = (one.precedences ?? []).filter(pair => !(pair.includes(a) && pair.includes(b)));
  one.precedences = [...others, [a, b]];
}, `${nameOf(a)} before ${nameOf(b)}`));

const tagAs = (word, tag) => change(one => {
  column(one, "tags")[word] = tag || null;
}, tag ? `${nameOf(word)} is ${tag}` : `${nameOf(word)} has no tag`);

const setTag = (word, tag) => inTurn([word], at => tagAs(at, tag));

const hasTag = word => Boolean(bag.tags?.[word]);
const hasHead = word => (bag.heads?.[word] ?? null) !== null;
const toggleTag = word => inTurn([word], at => tagAs(at, hasTag(at) ? null : rowOf(at).tag));

function hang(word, head, label = null) {
  return change(one => {
    column(one, "heads")[word] = head;
    column(one, "labels")[word] = head === null || head === word ? null : label;
    if (head === word) one.heads = one.heads.map((other, i) => (other === i && i !== word ? null : other)); // one root
    one.labels = one.labels.map((old, i) => (one.heads[i] === null || one.heads[i] === i ? null : old));
  }, headInWords(word, head));
}

const setHead = (word, head, label = null) =>
  inTurn(head === null ? [word] : [word, head], (at, over = null) => hang(at, over, label));

function headInWords(word, head) {
  if (head === null) return `${nameOf(word)} has no head`;
  return head === word ? `${nameOf(word)} is the root` : `${nameOf(head)} is the head of ${nameOf(word)}`;
}

const toggleHead = word => inTurn([word], at => {
  const { head, label } = rowOf(at);
  if (hasHead(at)) return hang(at, null);
  return head === "" ? null : hang(at, Number(head), label || null);
});

const forget = word => inTurn([word], at => change(one => {
  for (const key of ["tags", "heads", "labels"]) if (one[key]) one[key][at] = null;
  for (const key of ["first", "last"]) if (one[key] === at) delete one[key];
  one.precedences = (one.precedences ?? []).filter(pair => !pair.includes(at));
  one.units = (one.units ?? []).filter(([start, end]) => at < start || at >= end);
}, `Nothing is known of ${nameOf(at)}`));

// The words of a unit stand side by side. The order of a bag means nothing, so they are put there.
const keepTogether = chosenWords => inTurn(chosenWords, async (...words) => {
  const units = bag.units ?? [];
  const unitOf = word => units.find(([start, end]) => start <= word && word < end);
  const range = ([start, end]) => Array.from({ length: end - start }, (_, i) => start + i);
  const together = [...new Set(words.flatMap(word => (unitOf(word) ? range(unitOf(word)) : [word])))];
  if (together.length < 2) return null;
  const rest = bag.words.map((_, word) => word).filter(word => !together.includes(word));
  const start = rest.filter(word => word < Math.min(...together)).length;
  const order = [...rest.slice(0, start), ...together, ...rest.slice(start)];
  const place = order.map((_, word) => order.indexOf(word));
  chosen = [];
  const accepted = await change(one => {
    for (const key of ["words", "tags", "heads", "labels"]) if (one[key]) one[key] = order.map(word => one[key][word]);
    if (one.heads) one.heads = one.heads.map(head => (head === null ? null : place[head]));
    for (const key of ["first", "last"]) if (one[key] !== undefined) one[key] = place[one[key]];
    one.precedences = (one.precedences ?? []).map(pair => pair.map(word => place[word]))
      .filter(pair => !pair.every(word => start <= word && word < start + together.length));
    const others = units.filter(([first]) => !together.includes(first));
    const kept = others.map(([first, end]) => [place[first], place[first] + end - first]);
    one.units = [...kept, [start, start + together.length]];
  }, `${together.map(nameOf).join(" ")} stay together`);
  if (accepted) moved.push(place);
  return accepted;
});

function takeBack(key) {
  const [name, number] = key.split("/"), wish = JSON.stringify(bag[name][number]);
  return inTurn([], () => {
    const at = number === undefined ? 0 : bag[name]?.findIndex(one => JSON.stringify(one) === wish) ?? -1;
    return at < 0 ? null : change(one => {
      if (number === undefined) delete one[name];
      else one[name].splice(at, 1);
    }, "Taken back");
  });
}

// The panel of a word

function choose(word, more = false) {
  chosen = !more ? [word] : chosen.includes(word) ? chosen.filter(other => other !== word) : [...chosen, word];
  showChosen();
  // On a small screen it lies over the page.
  if (getComputedStyle(byId("panel")).position !== "sticky") byId("panel").scrollIntoView({ block: "nearest" });
}

function showChosen() {
  for (const tile of document.querySelectorAll(".tile"))
    tile.setAttribute("aria-pressed", chosen.includes(Number(tile.parentNode.dataset.word)));
  reach(document.querySelector(".tile[aria-pressed=true]") ?? document.querySelector(".tile"));
  byId("together").hidden = chosen.length < 2;
  byId("together").textContent = `Keep together: ${chosen.map(nameOf).join(" ")}`;
  byId("panel").hidden = chosen.length !== 1;
  if (chosen.length === 1) fillPanel(chosen[0]);
}

// Of all tiles, the Tab key reaches one.
function reach(one) {
  for (const tile of document.querySelectorAll(".tile")) tile.tabIndex = tile === one ? 0 : -1;
}

function options(select, choices, value) {
  select.replaceChildren(...choices.map(([key, text]) => new Option(text, key, false, String(key) === String(value))));
}

function fillPanel(word) {
  const { tag, head, label } = rowOf(word), form = document.querySelector("#panel form").elements;
  const others = bag.words.map((text, i) => [i, `${text} (${i + 1})`]).filter(([i]) => i !== word);
  byId("panel-title").textContent = `“${nameOf(word)}”`;
  form.place.value = bag.first === word ? "first" : bag.last === word ? "last" : "anywhere";
  options(form.before, [["", "–"], ...others], "");
  options(form.together, [["", "–"], ...others], "");
  const free = text => ["", text ? `free (${text})` : "free"];
  const names = (known, own) => (own && !known.includes(own) ? [own, ...known] : known).map(name => [name, name]);
  options(form.tag, [free(hasTag(word) ? "" : tag), ...names(NAMES.tags, bag.tags?.[word])], bag.tags?.[word] ?? "");
  const isRoot = head !== "" && Number(head) === word;
  const guess = head === "" ? "" : isRoot ? "root" : nameOf(Number(head));
  options(form.head, [free(hasHead(word) ? "" : guess), [word, "root of the sentence"], ...others], bag.heads?.[word] ?? "");
  const own = hasHead(word) && bag.labels?.[word] !== "dep" ? bag.labels?.[word] : null;
  options(form.label, [free(own ? "" : label), ...names(NAMES.labels, own)], own ?? "");
  form.label.disabled = !hasHead(word) || bag.heads[word] === word;
}

// A key moves through the choices of a closed list: one of them counts when the Enter key or another field says so.
let isByKeys = false, unapplied = null;
const form = document.querySelector("#panel form");
form.addEventListener("pointerdown", () => { isByKeys = false; });
form.addEventListener("keydown", event => {
  if (event.key === "Enter" && unapplied) {
    event.preventDefault(); // or it would open the list
    applyChoice();
  }
  // Others open it: then it is closed with a choice that counts.
  isByKeys = !event.altKey && (/^(Arrow|Page|Home|End)/.test(event.key) || /^\S$/.test(event.key));
});
form.addEventListener("focusout", () => applyChoice());
form.addEventListener("change", event => {
  unapplied = event.target;
  if (!isByKeys || !unapplied.matches("select")) applyChoice();
});
form.addEventListener("submit", event => event.preventDefault());

function applyChoice() {
  if (!unapplied) return;
  const [word] = chosen, { name, value } = unapplied;
  unapplied = null;
  if (name === "place") pin(word, value === "anywhere" ? "" : value);
  else if (name === "before" && value) putBefore(word, Number(value));
  else if (name === "together" && value) keepTogether([word, Number(value)]);
  else if (name === "tag") setTag(word, value);
  else if (name === "head") setHead(word, value === "" ? null : Number(value));
  else if (name === "label") setHead(word, bag.heads[word], value || null);
}

async function why(word) {
  const rank = Number(shownRank());
  try {
    const html = await post("why", { bag, word, rank });
    byId("why").replaceChildren(...new DOMParser().parseFromString(html, "text/html").body.childNodes);
    byId("why").hidden = false;
    byId("why").focus({ preventScroll: true });
    byId("why").scrollIntoView({ block: "nearest" });
    say(`Why ${nameOf(word)} stands here`);
  } catch (problem) {
    if (problem.name !== "AbortError") complain(problem.message);
  }
}

// Clicks and keys

const ACTS = {
  tag: word => toggleTag(word),
  why: word => why(word),
  forget: word => forget(word),
  close: word => { chosen = []; showChosen(); tileOf(word)?.focus(); },
};

document.addEventListener("click", event => {
  const at = event.target, word = Number(at.closest("[data-word]")?.dataset.word ?? chosen[0]);
  const act = at.closest("[data-act]")?.dataset.act;
  if (act) ACTS[act](word);
  else if (at.closest(".tile")) choose(word, event.shiftKey || event.ctrlKey || event.metaKey);
  else if (at.closest("[data-remove]")) takeBack(at.closest("[data-remove]").dataset.remove);
  else if (at.closest("#tree .tag")) toggleTag(word);
  else if (at.closest("#tree .arrow")) toggleHead(word);
  else if (at.closest("#tree .token, #lines g, h1 [data-word]")) choose(word);
  else if (at.closest(".example")) { byId("text").value = at.closest(".example").textContent; submit(); }
});

const KEYS = {
  f: word => pin(word, bag.first === word ? "" : "first"),
  l: word => pin(word, bag.last === word ? "" : "last"),
  t: toggleTag,
  a: toggleHead,
  w: why,
  u: word => keepTogether(chosen.includes(word) ? chosen : [...chosen, word]),
  Delete: forget,
  Backspace: forget,
  Escape: word => { chosen = []; showChosen(); tileOf(word).focus(); },
};

document.addEventListener("keydown", event => {
  if (event.key === "Escape" && drag) { endDrag(); return; }
  const isTyping = event.target.closest("textarea, input, select");
  if ((event.ctrlKey || event.metaKey) && event.key === "z" && !isTyping) { event.preventDefault(); undo(); return; }
  const tile = event.target.closest(".tile");
  if (event.key === "Escape" && event.target.closest("#panel, #why")) { tileOf(chosen[0])?.focus(); return; }
  if (!tile || event.ctrlKey || event.metaKey || event.altKey) return;
  const word = Number(tile.parentNode.dataset.word), all = tiles(), at = all.indexOf(tile.parentNode);
  const forward = getComputedStyle(tile).direction === "rtl" ? -1 : 1;
  const steps = { ArrowRight: forward, ArrowLeft: -forward, ArrowDown: 1, ArrowUp: -1, Home: -at, End: all.length - 1 - at };
  if (event.key in steps) {
    const next = all[Math.min(Math.max(at + steps[event.key], 0), all.length - 1)].querySelector(".tile");
    reach(next);
    next.focus();
  } else if (event.key === "Enter" && event.shiftKey) choose(word, true);
  else if (KEYS[event.key]) KEYS[event.key](word);
  else return;
  event.preventDefault();
});

// Dragging a tile, and drawing an arc

const overlay = byId("overlay");
let drag = null;
let isAfterDrag = false; // the click that follows is a part of the drag
addEventListener("click", event => { if (isAfterDrag) event.stopPropagation(); }, { capture: true });

document.addEventListener("pointerdown", event => {
  const from = event.target.closest(".bag .dot, .bag .tile, #tree .token");
  if (!from || event.button) return;
  const isArc = !from.classList.contains("tile");
  const word = Number(from.closest("[data-word]").dataset.word);
  const { clientX: x, clientY: y, pointerId: id } = event;
  drag = { from, word, isArc, x, y, at: [x, y], id, on: false, waits: event.pointerType === "touch" && !isArc };
  if (drag.waits) drag.timer = setTimeout(beginDrag, PRESS);
});

function beginDrag() {
  drag.on = true;
  document.body.classList.add("dragging");
  drag.from.setPointerCapture?.(drag.id);
  if (!drag.isArc) {
    drag.ghost = drag.from.cloneNode(true);
    drag.ghost.classList.add("ghost");
    drag.ghost.inert = true;
    document.body.append(drag.ghost);
  }
  showDrag();
  requestAnimationFrame(scrollAtEdge);
}

document.addEventListener("pointermove", event => {
  if (!drag || event.pointerId !== drag.id) return;
  drag.at = [event.clientX, event.clientY];
  if (!drag.on) {
    if (Math.hypot(drag.at[0] - drag.x, drag.at[1] - drag.y) < DRAG) return;
    if (drag.waits) endDrag(); // a finger that scrolls
    else beginDrag();
    return;
  }
  event.preventDefault();
  showDrag();
});
document.addEventListener("touchmove", event => { if (drag?.on) event.preventDefault(); }, { passive: false });
document.addEventListener("contextmenu", event => { if (drag?.waits) event.preventDefault(); });

function scrollAtEdge() {
  if (!drag?.on) return;
  const [, y] = drag.at, before = scrollY;
  scrollBy({ top: y < EDGE ? -12 : y > innerHeight - EDGE ? 12 : 0, behavior: "instant" });
  if (scrollY !== before) {
    drag.y -= scrollY - before;
    showDrag();
  }
  requestAnimationFrame(scrollAtEdge);
}

function showDrag() {
  const [x, y] = drag.at;
  if (drag.isArc) {
    const top = Math.min(drag.y, y) - 30;
    const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    path.setAttribute("d", `M${drag.x},${drag.y} C${drag.x},${top} ${x},${top} ${x},${y}`);
    overlay.replaceChildren(path);
  } else drag.ghost.style.translate = `${x}px ${y}px`;
  mark(target(x, y));
}

// What is under the pointer: a zone, or a word with a side of it.
function target(x, y) {
  const under = document.elementsFromPoint(x, y).find(e => !e.closest(".ghost, #overlay"));
  const zone = under?.closest(".zone");
  if (zone && !drag.isArc) return { zone, pin: zone.dataset.pin };
  let at = under?.closest(drag.isArc ? ".bag li, #tree .token" : ".bag li");
  if (!at && !drag.isArc && under?.closest(".bag")) {
    const distance = li => {
      const box = li.getBoundingClientRect();
      return Math.hypot(Math.max(box.left - x, 0, x - box.right), Math.max(box.top - y, 0, y - box.bottom));
    };
    at = tiles().reduce((best, li) => (distance(li) < distance(best) ? li : best));
  }
  if (!at || Number(at.dataset.word) === drag.word) return null;
  const box = at.getBoundingClientRect(), isLeft = x < box.left + box.width / 2;
  const isRtl = getComputedStyle(at).direction === "rtl";
  return { at, word: Number(at.dataset.word), side: isLeft === isRtl ? "after" : "before" };
}

function mark(found) {
  const classes = ["drop", "drop-before", "drop-after"];
  for (const old of document.querySelectorAll(classes.map(name => `.${name}`).join())) old.classList.remove(...classes);
  if (found?.zone) found.zone.classList.add("drop");
  else found?.at.classList.add(drag.isArc ? "drop" : `drop-${found.side}`);
}

// Without an event, it is given up.
function endDrag(event = null) {
  if (!drag || (event && event.pointerId !== drag.id)) return;
  const { on, isArc, word, ghost, timer } = drag;
  clearTimeout(timer);
  const found = on && event?.type === "pointerup" ? target(event.clientX, event.clientY) : null;
  mark(null);
  ghost?.remove();
  overlay.replaceChildren();
  document.body.classList.remove("dragging");
  drag = null;
  if (!on) return;
  isAfterDrag = true;
  setTimeout(() => { isAfterDrag = false; });
  if (!found) return;
  if (found.pin) pin(word, found.pin);
  else if (isArc) setHead(found.word, word);
  else if (found.side === "before") putBefore(word, found.word);
  else putBefore(found.word, word);
}
document.addEventListener("pointerup", endDrag);
document.addEventListener("pointercancel", endDrag);

// The words that are typed

function submit() {
  const text = byId("text").value.trim();
  if (!text) { complain("Type or paste some words first."); return; }
  let next = { text };
  if (text.startsWith("{")) {
    try { next = JSON.parse(text); } catch (problem) { complain(`This is not JSON: ${problem.message}`); return; }
  }
  chosen = [];
  instead(next).then(keep);
}
byId("ask").addEventListener("submit", event => { event.preventDefault(); submit(); });
byId("text").addEventListener("keydown", event => {
  if (event.key === "Enter" && !event.shiftKey) { event.preventDefault(); submit(); }
});
byId("undo").addEventListener("click", undo);
byId("together").addEventListener("click", () => keepTogether(chosen));

// Tags on tiles are those of the order that is shown.
document.addEventListener("shown", () => {
  byId("why").hidden = true; // it is of another order
  for (const li of tiles()) {
    const label = li.querySelector(".switch");
    if (!label.classList.contains("on")) label.textContent = rowOf(li.dataset.word).tag || "tag";
  }
  say(byId("sentence").querySelector("h1").textContent);
});

showChosen();
if (location.hash.length > 1) {
  try {
    instead(JSON.parse(decodeURIComponent(location.hash.slice(1)))).then(() => { byId("text").value = bag.words.join(" "); });
  } catch { /* not one of ours */ }
}
