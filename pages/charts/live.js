// A slider that pictures follow without asking the server: what they look like at each of its stops was sent before.
// When it comes to rest, the server is told, and draws the exact state.

import { cover, drawn, idle, mounted, running } from "./chart.js";

const REST = 200, STEP = 12; // milliseconds, and pixels of one stop of a number that is dragged
const parts = new Map(); // by what Python mounted: a slider, a line of text, or the states of the stops
let states, rehearsed, wanted, drawing;

const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

export function slider(component) {
  const { parentElement, data } = component, input = parentElement.querySelector("input");
  const part = parts.get(parentElement) ?? { input };
  parts.set(parentElement, part);
  part.trigger = component.setTriggerValue;
  part.data = data;
  input.max = data.stops.length - 1;
  input.setAttribute("aria-label", data.label);
  parentElement.querySelector(".dpscope-less").textContent = data.less;
  parentElement.querySelector(".dpscope-more").textContent = data.more;
  const say = (place, value = data.stops[place]) => {
    const text = `${data.symbol} = ${value}`;
    input.setAttribute("aria-valuetext", text);
    parentElement.querySelector("output").textContent = text;
    input.style.setProperty("--done", `${(100 * place) / Math.max(1, data.stops.length - 1)}%`);
  };
  if (!part.moving) {
    input.value = data.place;
    say(data.place, data.value);
  }
  const rest = () => {
    clearTimeout(part.timer);
    part.moving = false;
    for (const chart of mounted()) chart.following = false;
    part.trigger("rested", data.stops[input.value]);
  };
  input.oninput = () => {
    part.moving = true;
    say(Number(input.value));
    if (!still()) follow(Number(input.value));
    clearTimeout(part.timer);
    part.timer = setTimeout(rest, REST);
  };
  // Whoever comes near may slide; a page that is only looked at draws nothing in advance.
  input.onpointerenter = input.onfocus = rehearse;
  // Who lets go has arrived; keys, several of which are one move, leave no such sign.
  input.onpointerup = () => setTimeout(() => part.moving && rest());
  parentElement.dataset.ready = "";
}

// The headline. Of its numbers a hand can move ε, which moves the slider, and that of the rows, which is sent at rest.
export function line(component) {
  const { parentElement, data } = component;
  const part = parts.get(parentElement) ?? { place: parentElement.querySelector("[data-text]") };
  parts.set(parentElement, part);
  Object.assign(part, { key: data.key, canDrag: data.can_drag, rows: data.rows, trigger: component.setTriggerValue });
  if (!part.epsilon) {
    const { place } = part, text = () => document.createTextNode("");
    part.epsilon = grip(part, "ε in the sentence", epsilonMoves(part));
    part.count = grip(part, "Number of rows in the sentence", rowMoves(part));
    place.replaceChildren(text(), part.epsilon, text(), part.count, text());
  }
  part.place.classList.remove("dpscope-waiting");
  write(part, data.text);
}

// The elements stay, so that one that is held or has the focus keeps it.
function write(part, text) {
  const [first, epsilon, second, count, last] = part.place.childNodes;
  const [, before, number, rest] = (part.canDrag && /^(.*?ε = )([^\s,:]+)(.*)$/.exec(text)) || [, text, "", ""];
  const many = part.rows ? part.rows.value.toLocaleString("en") : "", at = many ? rest.indexOf(` of ${many} `) + 4 : 3;
  first.data = before;
  say(epsilon, number);
  second.data = at > 3 ? rest.slice(0, at) : rest;
  say(count, at > 3 ? many : "");
  last.data = at > 3 ? rest.slice(at + many.length) : "";
}

function say(handle, text) {
  handle.hidden = !text;
  handle.textContent = text;
  handle.setAttribute("aria-valuetext", text);
  handle.setAttribute("aria-valuemax", Math.max(0, handle.moves.stops() - 1));
  handle.setAttribute("aria-valuenow", Math.max(0, handle.moves.at()));
}

const range = () => document.querySelector(".dpscope-slide input");

function epsilonMoves(part) {
  return {
    stops: () => Number(range()?.max ?? 0) + 1,
    at: () => Number(range()?.value ?? 0),
    to(place) {
      range().value = place;
      range().dispatchEvent(new Event("input", { bubbles: true }));
      if (states?.texts?.[part.key] && !still()) return; // the sentence follows
      part.place.classList.add("dpscope-waiting");
      say(part.epsilon, range().getAttribute("aria-valuetext").split(" = ")[1]);
    },
    rest() {},
  };
}

function rowMoves(part) {
  return {
    stops: () => part.rows?.stops.length ?? 0,
    at: () => part.rows?.stops.indexOf(part.rows.value) ?? 0,
    to(place) {
      part.rows = { ...part.rows, value: part.rows.stops[place] };
      part.place.classList.add("dpscope-waiting"); // its error is that of another number of rows
      say(part.count, part.rows.value.toLocaleString("en"));
    },
    rest: () => part.trigger("rows", part.rows.value),
  };
}

function grip(part, label, moves) {
  const handle = Object.assign(document.createElement("span"), { className: "dpscope-grip", tabIndex: 0, moves });
  handle.setAttribute("role", "slider");
  handle.setAttribute("aria-label", label);
  handle.setAttribute("aria-valuemin", 0);
  handle.title = "Drag, or use the arrow keys";
  let x, from, moved;
  const go = (wanted) => {
    const place = Math.max(0, Math.min(moves.stops() - 1, wanted));
    if (place === moves.at()) return;
    moved = true;
    moves.to(place);
  };
  const rest = () => {
    clearTimeout(part.timer);
    if (moved) moves.rest();
    moved = false;
  };
  handle.onpointerdown = (event) => {
    handle.setPointerCapture(event.pointerId);
    event.preventDefault();
    handle.focus();
    [x, from] = [event.clientX, moves.at()];
  };
  handle.onpointermove = (event) => {
    if (handle.hasPointerCapture(event.pointerId)) go(from + Math.round((event.clientX - x) / STEP));
  };
  handle.onpointerup = handle.onpointercancel = rest;
  handle.onpointerenter = handle.onfocus = rehearse;
  handle.onkeydown = (event) => {
    const left = ["ArrowLeft", "ArrowDown"].includes(event.key), right = ["ArrowRight", "ArrowUp"].includes(event.key);
    const wanted = left ? moves.at() - 1 : right ? moves.at() + 1
      : { Home: 0, End: moves.stops() - 1 }[event.key];
    if (wanted === undefined) return;
    event.preventDefault();
    go(wanted);
    clearTimeout(part.timer);
    part.timer = setTimeout(rest, REST); // several keys are one move
  };
  return handle;
}

export async function hold({ parentElement, data, setTriggerValue }) {
  const part = parts.get(parentElement) ?? {};
  parts.set(parentElement, part);
  if (data.asks) setTriggerValue("wanted", true); // not on the way to the first picture
  if (states && part.sent === data.deflated) return; // a run changes them seldom
  part.sent = data.deflated;
  const found = data.deflated ? await inflated(data.deflated) : {};
  if (part.sent !== data.deflated) return; // a later run was faster
  states = found;
  if (document.querySelector(".dpscope-slide input:is(:hover, :focus)")) rehearse(); // who came near before they did
  parentElement.dataset.stops = states.texts ? Object.values(states.texts)[0].length : 0;
}

async function inflated(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).json();
}

export function forget(parentElement) {
  clearTimeout(parts.get(parentElement)?.timer);
  parts.delete(parentElement);
}

// The latest stop only: a finger is faster than a picture.
async function follow(place) {
  wanted = place;
  if (drawing || !states?.charts) return;
  drawing = true;
  while (wanted !== undefined) {
    const now = wanted;
    wanted = undefined;
    await show(now);
    await new Promise(requestAnimationFrame);
  }
  drawing = false;
}

async function show(place) {
  const began = performance.now(), { charts, texts } = states;
  for (const part of parts.values()) if (texts[part.key]) write(part, texts[part.key][place]);
  for (const chart of mounted()) {
    const { key } = chart.figure;
    if (!charts[key]) continue;
    chart.following = true;
    chart.short.textContent = texts[key]?.[place] ?? "";
    if (touched(chart)) {
      cover(chart);
      await drawn(chart, chart.plot, figure(chart, place));
    } else cover(chart, await film(chart, place), figure(chart, place));
  }
  document.documentElement.dataset.dpscopeStep = (performance.now() - began).toFixed(1);
}

// --- a chart at each stop is drawn once, out of sight, and kept as it was drawn: to show it again costs next to nothing

function figure(chart, place) {
  const { pool, charts } = states, state = charts[chart.figure.key][place];
  const whole = ([same, fields]) => {
    const changing = Object.entries(fields).map(([name, where]) => [name, pool[where]]);
    return { ...pool[same], ...Object.fromEntries(changing) };
  };
  return { data: state.data.map(whole), layout: whole(state.layout), beside: chart.figure.beside };
}

async function film(chart, place) {
  const { width } = chart.plot._fullLayout;
  if (chart.films?.states !== states || chart.films.width !== width) chart.films = { states, width, taken: [] };
  const { taken } = chart.films;
  if (!taken[place]) {
    if (!chart.twin) {
      chart.twin = Object.assign(document.createElement("div"), { className: "dpscope-twin" });
      chart.film.after(chart.twin);
    }
    await drawn(chart, chart.twin, figure(chart, place));
    taken[place] = [...chart.twin.querySelectorAll(".main-svg")].map((picture) => picture.cloneNode(true));
  }
  return taken[place];
}

// All stops, always the nearest to where the slider is now, while nothing else is to be done.
async function rehearse() {
  if (still() || !states?.charts || rehearsed === states) return;
  const mine = rehearsed = states, left = [...Object.values(mine.charts)[0].keys()];
  const away = (place) => Math.abs(place - Number(document.querySelector(".dpscope-slide input")?.value));
  while (left.length) {
    left.sort((one, other) => away(other) - away(one));
    const place = left.pop();
    for (const chart of mounted()) {
      do await idle(); while (drawing || running());
      if (states !== mine) return;
      if (mine.charts[chart.figure.key] && chart.plot._fullLayout) await film(chart, place);
    }
  }
}

// Whether the reader looks at a part of the chart, or has hidden some of it: that stays.
function touched({ plot, figure: { layout } }) {
  return ["xaxis", "yaxis"].some((axis) => String(plot.layout[axis]?.range) !== String(layout[axis]?.range))
    || plot.data.some((trace) => trace.visible === "legendonly");
}
