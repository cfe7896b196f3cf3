// A slider that pictures follow without asking the server: what they look like at each of its stops was sent before.
// When it comes to rest, the server is told, and draws the exact state.

import { mounted, preview } from "./chart.js";

const REST = 200; // milliseconds
const parts = new Map(); // by what Python mounted: a slider, a line of text, or the states of the stops
let states, wanted, drawing;

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
    part.moving = false;
    part.trigger("rested", data.stops[input.value]);
  };
  input.oninput = () => {
    part.moving = true;
    say(Number(input.value));
    if (!still()) follow(Number(input.value));
    clearTimeout(part.timer);
    part.timer = setTimeout(rest, REST);
  };
  parentElement.dataset.ready = "";
}

export function line(component) {
  const { parentElement, data } = component;
  parts.set(parentElement, { key: data.key, place: parentElement.querySelector("[data-text]") });
  parts.get(parentElement).place.textContent = data.text;
}

export function hold({ parentElement, data, setTriggerValue }) {
  parts.set(parentElement, {});
  if (data.asks) setTriggerValue("wanted", true); // not on the way to the first picture
  states = { ...data, pool: data.pool?.map(unpacked) };
  parentElement.dataset.stops = data.texts ? Object.values(data.texts)[0]?.length ?? 0 : 0;
}

// Many numbers come as 16 bits each, above the least of them: in one row, or in rows of the same length.
function unpacked(value, _, pool) {
  if (value?.both) return { ...pool[value.both[0]], ...pool[value.both[1]] };
  if (!value?.packed) return value;
  const { packed, low, tens, across } = value, bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
  const all = Array.from(new Uint16Array(bytes.buffer), (step) => (step === 65535 ? null : (low + step) / tens));
  return across ? Array.from({ length: all.length / across }, (_, row) => all.slice(row * across, (row + 1) * across)) : all;
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
  const began = performance.now(), { pool, charts, texts } = states;
  for (const { key, place: where } of parts.values()) if (texts[key]) where.textContent = texts[key][place];
  for (const chart of mounted()) {
    const found = charts[chart.figure.key]?.[place];
    if (found) await preview(chart, found, pool, texts[chart.figure.key]?.[place] ?? "");
  }
  document.documentElement.dataset.dpscopeStep = (performance.now() - began).toFixed(1);
}
