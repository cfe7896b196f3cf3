// What Streamlit leaves to the browser: history entries that Back can use, a link to copy, a file that a reload lost.

const SOON = 15000; // milliseconds: a busy server takes its time to send the next page
const LOST = "dpscope-file"; // in this tab's own storage: whether it held a file; nothing of the file
const TABLET = matchMedia("(min-width: 768px) and (max-width: 1099.98px)"); // Streamlit itself folds the rail on a phone only
const PHONE = matchMedia("(max-width: 767.98px)"); // the rail is a drawer over the page
const LEADS = ".st-key-tradeoff_chart, .st-key-needed_chart"; // a click there goes to another mechanism
const BOX = '[data-testid="stSelectbox"]', SMALLEST = 12; // pixels of the letters of what is chosen there
let choicesWatched = false;
let reloaded = true, railOpened = false, railWatched = false;

export default function ({ parentElement, data, setTriggerValue }) {
  keepHistory();
  keepRailFolded();
  keepChoicesWhole();
  const find = (name) => parentElement.querySelector(`.dpscope-${name}`);
  const copied = find("copied");
  find("copy").onclick = async () => {
    copied.textContent = (await copy(location.href)) ? "Copied." : location.href;
    setTimeout(() => { copied.textContent = ""; }, 4000);
  };
  // A new server, or a reload: the file is nowhere, and whoever gave it is told so.
  if (data.file) sessionStorage.setItem(LOST, "yes");
  else if (reloaded && sessionStorage.getItem(LOST)) find("lost").hidden = false;
  else if (!reloaded) sessionStorage.removeItem(LOST);
  if (data.file) find("lost").hidden = true;
  find("lost").querySelector("button").onclick = () => {
    find("lost").hidden = true;
    sessionStorage.removeItem(LOST);
  };
  reloaded = false;
  find("present").onclick = () => setTriggerValue("shown", true);
  const leave = (event) => { if (event.key === "Escape" && data.presenting) setTriggerValue("left", true); };
  document.addEventListener("keydown", leave);
  document.addEventListener("click", closeDrawer);
  const themes = followTheme(data.dark, () => setTriggerValue("themed", true));
  return () => {
    document.removeEventListener("keydown", leave);
    document.removeEventListener("click", closeDrawer);
    themes.disconnect();
  };
}

// Streamlit closes a phone's drawer after a choice only if the browser says that it is a phone's, but always at a press
// outside it where it covers the page.
function closeDrawer({ target }) {
  if (!target.closest?.('[data-testid="stSidebarNavLink"]')) return;
  document.querySelector(".stMain").dispatchEvent(new MouseEvent("mousedown", { bubbles: true }));
}

// On a tablet the pictures need the rail's width: it is folded until the reader opens it, and comes back where there is room.
function keepRailFolded() {
  const opener = '[data-testid="stExpandSidebarButton"]', closer = '[data-testid="stSidebarCollapseButton"]';
  const close = () => document.querySelector(`[data-testid="stSidebar"][data-collapsed="false"] ${closer} button`)?.click();
  const fold = () => {
    if (TABLET.matches && !railOpened) close();
    document.documentElement.dataset.rail = "known"; // see frame.css
  };
  fold();
  if (railWatched) return;
  railWatched = true;
  // Streamlit opens it on another page, and where the window was a phone's.
  new MutationObserver(fold).observe(document.body, { subtree: true, attributes: true, attributeFilter: ["data-collapsed"] });
  const open = () => { if (innerWidth > 1000) document.querySelector(opener)?.click(); };
  TABLET.addEventListener("change", ({ matches }) => (matches ? fold() : open()));
  PHONE.addEventListener("change", ({ matches }) => (matches ? close() : open())); // a window may skip the tablet's widths
  document.addEventListener("click", ({ isTrusted, target }) => {
    if (isTrusted && target.closest?.(opener)) railOpened = true;
    if (isTrusted && target.closest?.(closer)) railOpened = false;
  }, true);
}

// A select box has one line for what is chosen: where that is longer it has smaller letters, or stands below the box too.
function keepChoicesWhole() {
  if (choicesWatched) return;
  choicesWatched = true;
  let due = 0;
  const fit = (input) => {
    input.style.fontSize = "";
    const size = parseFloat(getComputedStyle(input).fontSize), share = input.clientWidth / input.scrollWidth;
    if (share < 1) input.style.fontSize = `${Math.max(SMALLEST, Math.floor(2 * size * share) / 2)}px`;
    input.closest(BOX).dataset.whole = input.scrollWidth > input.clientWidth ? input.value : "";
  };
  const widths = new ResizeObserver((changed) => changed.forEach(({ target }) => fit(target)));
  const watch = () => {
    due = 0;
    for (const input of document.querySelectorAll(`${BOX} input`)) {
      widths.observe(input);
      fit(input);
    }
  };
  new MutationObserver(() => { due ||= requestAnimationFrame(watch); }).observe(
    document.querySelector(".stApp"), { subtree: true, childList: true, attributes: true, attributeFilter: ["value"] });
  watch();
}

// Python draws pictures in the theme that the page had at its last run; after another they would be hard to read.
function followTheme(dark, rerun) {
  const app = document.querySelector(".stApp");
  const isDark = () => {
    const [red, green, blue] = getComputedStyle(app).backgroundColor.match(/\d+/g).map(Number);
    return red + green + blue < 384;
  };
  const themes = new MutationObserver(() => {
    if (isDark() === dark) return;
    themes.disconnect(); // once: the run that follows watches anew
    rerun();
  });
  themes.observe(app, { attributes: true, attributeFilter: ["class"] });
  return themes;
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false; // not allowed, or not a secure origin: the address itself is shown
  }
}

// Streamlit adds an entry for every step of a control that Python moves. On the way to another page it first asks, still
// under the old one's path, for what the next is asked, or for nothing, and runs of the old page may add to that.
// With one entry a page, and in it what was there at the click that led away, Back returns to the page as it was.
function keepHistory() {
  if (window.dpscopeHistory) return;
  window.dpscopeHistory = true;
  const push = history.pushState.bind(history);
  let left = location.href, leaving = -SOON;
  const note = ({ target, ctrlKey, metaKey, shiftKey }) => {
    if (performance.now() - leaving < SOON) return; // an impatient second click
    left = location.href;
    const link = !(ctrlKey || metaKey || shiftKey) && target.closest?.("a[href]:not([target=_blank], [download])");
    if (link && link.host === location.host && link.pathname !== location.pathname) leaving = performance.now();
  };
  document.addEventListener("click", note, true);
  document.addEventListener("dpscope-picked", ({ target }) => {
    if (target.closest(LEADS)) push(history.state, "", location.href); // what follows replaces this entry, not the last
  });
  window.addEventListener("popstate", () => { leaving = -SOON; });
  history.pushState = (state, title, url) => {
    const next = new URL(url ?? location.href, location.href), now = new URLSearchParams(location.search);
    if (next.pathname !== location.pathname) {
      if (new URL(left).pathname === location.pathname) history.replaceState(history.state, "", left);
      leaving = -SOON;
      push(state, title, url);
      return;
    }
    const lesson = location.pathname.endsWith("/learn") && next.searchParams.has("lesson");
    const opens = lesson && ["lesson", "view"].some((name) => next.searchParams.get(name) !== now.get(name));
    const presents = next.searchParams.has("present") && !now.has("present");
    if (opens || presents) push(state, title, url); // that is going somewhere
    else history.replaceState(state, title, url);
  };
}
