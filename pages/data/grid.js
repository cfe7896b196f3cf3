// Every key typed into the grid reaches the cell it is meant for, however busy the browser is.
//
// Streamlit's grid loses keys in three ways. Tab and Enter close a cell's editor by a timer, and the timer of an earlier
// key, if it is late, drops what was typed: here they close it at once. And keys that come while an editor is being
// opened or closed find none, or the wrong one: here they wait for it, in order. And while the mouse is beside the grid,
// as after a click on an option of a list, no key moves the selection: here the grid is told first that the mouse is back.

const EDITOR = ".gdg-clip-region", CANVAS = "[data-testid='data-grid-canvas']";
const CELLS = `${CANVAS}, [data-testid^='glide-cell-']`;
const SLOW = 5000, ENTER = 600; // milliseconds that an editor may take; Enter also ticks boxes, which opens none
const ENDS = ["Tab", "Enter"], KEPT = [...ENDS, "Backspace", "ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"];
let waiting = null; // keys, while an editor is being opened or closed
let ours = false; // while one of them is passed on
let grid = null; // where the last key or the mouse was
let away = false; // the mouse is beside it

export default function () {
  if (window.dpscopeKeys) return;
  window.dpscopeKeys = true;
  document.addEventListener("keydown", take, true);
  document.addEventListener("pointermove", ({ target }) => { away = !at(target); }, true);
}

function take(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  at(event.target);
  const ends = ENDS.includes(event.key) && event.target.closest?.(EDITOR);
  const moves = KEPT.includes(event.key) && (ends || event.target.matches?.(CELLS));
  if (!ours && (waiting ? isGrid(event.target) : away && moves && grid)) {
    if (event.key.length > 1 && !KEPT.includes(event.key)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    const first = !waiting;
    (waiting ??= []).push({ key: event.key, shiftKey: event.shiftKey });
    if (first) passOn(bringBack);
    return;
  }
  if (ends) closeAtOnce();
  const change = ends ? closed : opens(event) ? opened(event.key) : null;
  if (change && !ours) {
    waiting = [];
    passOn(change);
  }
}

function at(target) {
  const found = target.closest?.(CANVAS);
  grid = found ?? grid;
  return found;
}

const isGrid = (target) => target.closest?.(`${EDITOR}, ${CELLS}`) || target === document.body;
const opens = ({ key, target }) => target.matches?.(CELLS) && (key === "Enter" || (key.length === 1 && key !== " "));
const closed = async () => {
  await within(SLOW, () => !document.querySelector(EDITOR));
  await frame(); // the grid listens as one without an editor only after it is painted
};
const opened = (key) => async () => {
  await within(key === "Enter" ? ENTER : SLOW, () => document.activeElement.closest(EDITOR) || !isGrid(document.activeElement));
  await frame(); // an editor of numbers moves its caret
};

async function bringBack() {
  const { left, top } = grid.getBoundingClientRect();
  grid.dispatchEvent(new PointerEvent("pointermove", { clientX: left + 5, clientY: top + 5, bubbles: true }));
  await frame();
}

// The next timer of no delay, which is the editor's, is no timer.
function closeAtOnce() {
  const usual = window.setTimeout;
  const once = (work, delay, ...rest) => {
    window.setTimeout = usual;
    if (delay !== 0) return usual(work, delay, ...rest);
    queueMicrotask(work);
    return 0;
  };
  window.setTimeout = once;
  usual(() => { if (window.setTimeout === once) window.setTimeout = usual; }, 0);
}

async function passOn(change) {
  await change();
  while (waiting.length) {
    const { key, shiftKey } = waiting.shift(), target = document.activeElement, editor = target.closest(EDITOR);
    const next = editor ? ENDS.includes(key) && closed : opens({ key, target }) && opened(key);
    ours = true;
    const usual = target.dispatchEvent(new KeyboardEvent("keydown", { key, shiftKey, bubbles: true, cancelable: true }));
    ours = false;
    if (usual && editor && !next && !key.startsWith("Arrow")) {
      target.setSelectionRange(target.value.length, target.value.length);
      if (key === "Backspace") document.execCommand("delete");
      else document.execCommand("insertText", false, key);
    }
    await (next || frame)();
  }
  waiting = null;
}

async function within(milliseconds, condition) {
  const end = performance.now() + milliseconds;
  do await frame(); while (!condition() && performance.now() < end);
}

const frame = () => new Promise((done) => { requestAnimationFrame(() => setTimeout(done)); });
