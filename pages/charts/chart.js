// Draws a Plotly figure in place, plays its frames, and says what was clicked, brushed or dragged.
// Python sends plain dictionaries (plotly.py); nothing here knows what a picture is about.

const TICK = 600, SLOW = 2500, TURN = 250, LONGEST = 150; // milliseconds: a frame is shown while playing, while nobody does anything, or while tiles turn; a chart that is covered waits for the others
const LEGEND_LINE = 22, LEGEND_MARK = 46, LETTER = 6.6; // pixels
const LEGEND_EDGE = 11, LEGEND_NAMES = 19; // of it what Plotly itself takes, rounded up: at the edge, and for each line
const ASIDE = 195, LONGEST_NAME = 27; // pixels of a legend beside the picture, and letters of a line in it
const WIDE = 800, WIDE_ASIDE = 275, WIDE_NAME = 42; // the same beside a picture that is as wide as this
const NARROW = 480, LONG = 24; // pixels of a phone's chart, and letters of the longest name that stands beside a line there
const FEW = 4; // numbers along a phone's axis, at most, where they are long
const NAMES = 130, SECOND = 13; // pixels beside the lines for longer names, and of their second lines
const BADGE_LETTER = 10, BADGE_LINE = 14, BADGE_PAD = 13, APART = 12; // pixels: the smallest letter of the badge; from one of its lines to the next; from the last of several to the title of an axis
const SCREEN = { width: 1280, height: 900 }, ROWS = 480, MOST = 0.45; // pixels that a page is made for, and of its charts; share of a window that one may take
const AROUND = 400, LARGE = 2, LARGER = 1.2; // pixels around one that stands for all; how much higher that one is, on a phone less
const TABLET = 1023, MENU = 52; // pixels of the widest window with a menu below its picture, and of a menu
const CONFIG = { displayModeBar: false, responsive: false, showTips: false, scrollZoom: false };
export const charts = new Map();
const libraries = new Map(), leaving = new WeakMap();

// The charts on the page that are drawn and have a key.
export const mounted = () => [...charts.values()].filter((chart) => chart.watched && chart.figure.key);

// Pictures in the plane need a third of the library, and are not made to wait for the rest.
const IN_PLANE = "plotly-cartesian.min.js", WHOLE = "plotly.min.js";
const needed = ({ data }) => (data.some((trace) => trace.type === "scatter3d") ? WHOLE : IN_PLANE);

function plotly(name) {
  if (!libraries.has(name)) {
    libraries.set(name, new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = new URL(name, import.meta.url);
      script.onload = () => resolve(window.Plotly);
      script.onerror = () => reject(new Error("The chart library could not be loaded."));
      document.head.append(script);
    }));
  }
  return libraries.get(name);
}

// A chart is seen before the next one is drawn for the first time. Nothing is painted in a window out of sight.
let last = Promise.resolve();
const painted = () => new Promise((done) => {
  requestAnimationFrame(() => setTimeout(done));
  setTimeout(done, LONGEST);
});

function turn() {
  const before = last;
  last = before.then(painted);
  return before;
}

export async function draw(component) {
  const { parentElement } = component;
  const chart = charts.get(parentElement) ?? create(parentElement);
  const data = read(chart, component.data);
  // The setters are new in every run.
  chart.plot.dataset.waiting = "";
  Object.assign(chart, { send: component.setStateValue, trigger: component.setTriggerValue, figure: data });
  const Plotly = await plotly(needed(data));
  await leaving.get(parentElement);
  if (!chart.watched) await turn();
  if (chart.figure !== data || charts.get(parentElement) !== chart) return; // a later run was faster
  if (chart.library !== Plotly) {
    if (chart.library) unwatch(chart); // neither knows what the other has drawn
    Object.assign(chart, { library: Plotly, stands: "" });
  }
  if (chart.frame >= data.frames.length) chart.frame = 0;
  const turns = data.turning && data.frames.length && chart.turned !== chart.text;
  describe(chart);
  if (turns) {
    chart.turned = chart.text;
    stop(chart);
    chart.frame = chart.play.hidden ? data.frames.length - 1 : 0;
    describe(chart);
  }
  // A run sends every chart. One that stands as it was sent stays: Plotly would draw even the same figure anew.
  const now = [chart.text, chart.frame, chart.brushes, chart.plot.clientWidth, window.innerHeight].join();
  if (now === chart.stands && !chart.moving) {
    if (!chart.following) cover(chart);
    delete chart.plot.dataset.waiting;
    return;
  }
  const count = () => { chart.plot.dataset.drawn = String(Number(chart.plot.dataset.drawn ?? 0) + 1); };
  // What lies above the chart is this very picture: the chart itself, which answers the pointer, has time.
  const seen = !chart.following && !chart.frame && chart.film.childElementCount && isShown(chart, data);
  if (seen) {
    count();
    // Not between two charts of one run: the second would wait for what nobody sees of the first.
    const until = performance.now() + LONGEST;
    do await idle(); while (running() && performance.now() < until);
    if (chart.figure !== data || charts.get(parentElement) !== chart) return;
  }
  const traces = data.data.map((trace) => ({ ...trace }));
  const frame = data.frames[chart.frame];
  frame?.traces.forEach((place, index) => Object.assign(traces[place], frame.data[index]));
  // A brush was sent to Python; if it means something, it comes back as a mark.
  const layout = { ...sized(chart), selections: [], selectionrevision: chart.brushes };
  traces.forEach((trace) => Object.assign(trace, nameIn(trace, layout), shades(trace, data.layout, layout)));
  chart.stands = now;
  chart.drawing = Plotly.react(chart.plot, traces, layout, CONFIG);
  await chart.drawing;
  if (charts.get(parentElement) !== chart) return; // it left the page meanwhile
  if (!chart.watched) watch(chart);
  // While the handle moves, an answer to an earlier place is late, and does not take it back there.
  if (chart.moving) moveHandle(chart, chart.at);
  else placeHandle(chart);
  if (!chart.following) cover(chart);
  delete chart.plot.dataset.waiting;
  if (!seen) count();
  if (turns && !chart.play.hidden) start(chart, TURN, true);
  if (data.cycling && !busy && !chart.timer && !chart.play.hidden) start(chart, SLOW);
}

// What Python sent, in bytes. The same words are the same figure.
function read(chart, sent) {
  const text = new TextDecoder().decode(sent);
  if (text !== chart.text) Object.assign(chart, { text, figure: shared(JSON.parse(text), chart.figure) });
  return chart.figure;
}

// A value in which what is as before is what was before: Plotly takes a list for changed unless it is the very same,
// and draws all of a chart anew for it, but little where only lines and words of the layout have moved.
function shared(value, before) {
  if (typeof value !== "object" || !value || typeof before !== "object" || !before) return value;
  const names = Object.keys(value);
  let same = Array.isArray(value) === Array.isArray(before) && names.length === Object.keys(before).length;
  for (const name of names) {
    value[name] = shared(value[name], before[name]);
    same &&= value[name] === before[name];
  }
  return same ? before : value;
}

export function forget(parentElement) {
  const chart = charts.get(parentElement);
  if (!chart) return;
  clearInterval(chart.timer);
  charts.delete(parentElement);
  // Plotly does not bear that a picture goes while it is drawn. What comes to its place waits.
  if (chart.library) leaving.set(parentElement, Promise.allSettled([chart.drawing]).then(() => unwatch(chart)));
}

function create(parent) {
  const find = (name) => parent.querySelector(`.dpscope-${name}`);
  const chart = {
    frame: 0, brushes: 0, plot: find("plot"), film: find("film"), caption: find("sentence"), short: find("caption"), player: find("player"), play: find("play"),
    slider: find("frames"), shown: find("shown"), handle: find("handle"), files: find("files"),
  };
  chart.slider.oninput = () => { stop(chart); show(chart, Number(chart.slider.value)); };
  chart.play.onclick = () => (chart.timer ? stop(chart) : start(chart));
  chart.files.onclick = (event) => download(chart, event.target.dataset.kind);
  // Plotly takes a swipe that scrolls the page for a click where it began. Nor does it look where the mouse is more
  // than every 50 ms: without its leaving, a click counts where it looked last.
  chart.plot.addEventListener("pointerdown", () => { chart.scrolled = false; chart.library?.Fx.unhover(chart.plot); }, true);
  chart.plot.addEventListener("pointercancel", () => { chart.scrolled = true; }, true);
  drag(chart);
  charts.set(parent, chart);
  return chart;
}

function describe(chart) {
  const { figure, frame } = chart, now = figure.frames[frame];
  chart.plot.setAttribute("aria-label", figure.title);
  chart.caption.textContent = now?.sentence ?? figure.sentence;
  // The sentence opens on demand; whoever does not see the picture is told it at once.
  chart.caption.id = `${figure.key}-sentence`;
  chart.plot.setAttribute("aria-describedby", chart.caption.id);
  chart.short.textContent = figure.caption;
  chart.player.hidden = figure.frames.length < 2;
  chart.play.hidden = matchMedia("(prefers-reduced-motion: reduce)").matches;
  chart.slider.max = Math.max(0, figure.frames.length - 1);
  chart.slider.value = frame;
  chart.slider.setAttribute("aria-label", figure.playing);
  chart.slider.setAttribute("aria-valuetext", now?.label ?? "");
  chart.shown.textContent = now?.label ?? "";
  chart.files.hidden = !figure.download;
}

// A legend of many names takes lines of its own, so that the picture keeps its height; or stands beside, where there is room.
function sized(chart, { layout, data, beside: aside } = chart.figure, width = chart.plot.clientWidth || chart.width || 600) {
  const names = layout.showlegend ? data.filter((trace) => trace.showlegend).map((trace) => trace.name) : [];
  const longest = Math.max(0, ...names.map((name) => name.length * LETTER + LEGEND_MARK));
  const beside = names.length && aside && width > 3 * ASIDE;
  const lines = Math.ceil(names.length / Math.max(1, Math.floor((width - 24) / longest)));
  const below = names.length && !beside, legend = below ? 8 + LEGEND_LINE * lines : 0;
  const coarse = matchMedia("(pointer: coarse)").matches; // a swipe across a chart scrolls the page
  const scene = layout.scene && { ...layout.scene, dragmode: coarse ? false : layout.scene.dragmode };
  const badge = badged(layout, width - menu(chart)), more = badge?.more ?? 0, high = tall(chart, layout.height) + more;
  const upright = {
    orientation: "v", x: 1, xref: "container", xanchor: "right", y: 1 - 24 / high, yref: "container",
    yanchor: "top", font: { size: 10.5 }, maxheight: high - 24, tracegroupgap: 0,
  };
  const copy = copied(layout);
  if (width <= NARROW && copy.xaxis) {
    copy.xaxis.title.font = { ...copy.xaxis.title.font, size: 12 };
    if (hasLongNumbers(copy.xaxis)) copy.xaxis.nticks = FEW;
  }
  const named = fold(copy, width), higher = named ? SECOND * copy.yaxis.ticktext.length : 0;
  return {
    ...copy, ...(scene && { scene }), ...(badge && { title: badge.title }), width, height: high + legend + higher,
    margin: { ...layout.margin, t: layout.margin.t + more, b: layout.margin.b + (below ? LEGEND_EDGE + LEGEND_NAMES * lines : 0), r: layout.margin.r + (beside ? (width < WIDE ? ASIDE : WIDE_ASIDE) : 0), ...(named && { l: NAMES }) },
    ...(beside && { legend: { ...layout.legend, ...upright } }), dragmode: coarse ? false : layout.dragmode,
  };
}

// Whether an axis has numbers such as 1,000, of which a phone has room for few.
const hasLongNumbers = ({ type, range, tickvals }) => type === "linear" && !tickvals && Math.max(...range.map(Math.abs)) >= 1000;

// On a screen with room below, a chart is higher; not so much that two above each other would need to be scrolled.
function tall(chart, height) {
  if (chart.plot.closest(".st-key-presentation_chart")) return height;
  const alone = chart.plot.closest(".st-key-alone"), phone = window.innerWidth <= NARROW;
  const most = alone && !phone ? window.innerHeight - AROUND : MOST * window.innerHeight;
  const larger = alone ? Math.max(height, Math.min((phone ? LARGER : LARGE) * height, most)) : height;
  if (window.innerWidth < SCREEN.width) return larger;
  const grown = larger * (1 + Math.max(0, window.innerHeight - SCREEN.height) / ROWS);
  return Math.max(height, Math.min(grown, most));
}

// The badge in as many lines as its width needs, and how many pixels more that is than Python, which does not know the
// width, left for it. The second line ends beside the title of the axis above the picture: that stands below it.
// A letter is about half as wide as it is high, never 1 / 1.9.
function badged({ title, xaxis2 }, width) {
  if (!title?.text) return undefined;
  const given = title.text.split("<br>"), most = Math.max(20, Math.floor((1.9 * width) / BADGE_LETTER)), lines = broken(given.join(" "), most);
  const more = BADGE_LINE * (lines.length - given.length) + (xaxis2 && lines.length > 1 ? APART : 0), size = (1.9 * width) / Math.max(...lines.map((line) => line.length));
  const font = { ...title.font, size: Math.min(title.font.size, size) }, pad = { ...title.pad, t: title.pad.t + BADGE_PAD * (lines.length - given.length) };
  return { more, title: { ...title, text: lines.join("<br>"), font, pad } };
}

// Pixels of the menu on the first page, which stands at a picture's upper right corner where the window is wide.
function menu({ plot }) {
  return window.innerWidth > TABLET && plot.closest("[class*='st-key-figure_']") ? MENU : 0;
}

// Words in lines of at most so many letters.
function broken(text, most) {
  const lines = [];
  for (const word of text.split(" ")) {
    const longer = `${lines.at(-1)} ${word}`;
    if (lines.length && longer.length <= most) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

// The scale of shades is a distance from above, told as a share of a height that Python does not know.
function shades({ colorbar }, told, layout) {
  if (!colorbar) return undefined;
  const down = (1 - colorbar.y) * told.height + layout.margin.t - told.margin.t;
  return { colorbar: { ...colorbar, y: 1 - down / layout.height } };
}

// Long names beside lines leave a phone no room for the picture: they take two lines each, which is told. What stands
// in lines already is as long as the longest of them.
function fold({ yaxis }, width) {
  const isLong = (line) => line.length > LONG, lines = (name) => name.split("<br>");
  if (width > NARROW || !yaxis?.ticktext?.some((name) => lines(name).some(isLong))) return false;
  yaxis.ticktext = yaxis.ticktext.map((name) => lines(name).map((line) => {
    const middle = line.indexOf(" ", line.length / 2 - 1);
    return isLong(line) && middle > 0 ? `${line.slice(0, middle)}<br>${line.slice(middle + 1)}` : line;
  }).join("<br>"));
  yaxis.tickfont = { ...yaxis.tickfont, size: 10.5 };
  return true;
}

// A copy, for Plotly writes into a layout; of where numbers stand, which it only reads, none: see shared().
function copied(layout) {
  const copy = structuredClone(layout);
  for (const [name, { tickvals, ticktext }] of Object.entries(layout)) {
    if (tickvals) Object.assign(copy[name], { tickvals }, ticktext && { ticktext });
  }
  return copy;
}

// The name of a trace in lines for which there is room; its group, by which a click hides it, keeps it as it was.
function nameIn({ name }, { legend, width }) {
  const beside = name && legend.orientation === "v";
  return beside ? { name: broken(name, width < WIDE ? LONGEST_NAME : WIDE_NAME).join("<br>") } : { name };
}

// A figure as it would be drawn now, in this or another element of the chart's.
export async function drawn(chart, element, figure) {
  const { width } = chart.plot._fullLayout;
  if (element === chart.plot) chart.stands = "";
  const layout = sized(chart, figure, width);
  const data = figure.data.map((trace) => ({ ...trace, ...nameIn(trace, layout), ...shades(trace, figure.layout, layout) }));
  await chart.library.react(element, data, layout, CONFIG);
}

// Shows a figure that was drawn elsewhere, until the next draw().
export function cover(chart, pictures = [], figure = undefined) {
  chart.above = figure;
  chart.film.replaceChildren(...pictures);
  chart.plot.style.opacity = pictures.length ? 0 : "";
}

export const running = () => document.querySelector("[data-testid=stApp]")?.dataset.testScriptState === "running";

export const idle = () => new Promise((done) => (window.requestIdleCallback ?? setTimeout)(done));

// Whether the figure above the chart is the one that came, in all that is seen of it.
function isShown({ above }, { data, layout }) {
  const part = (whole, like) => JSON.stringify(Object.keys(like).map((name) => whole?.[name]));
  const same = (one, other) => part(one, one) === part(other, one);
  return above.data.length === data.length && same(above.layout, layout)
    && above.data.every((trace, place) => same(trace, data[place]));
}

function unwatch(chart) {
  chart.watched = false;
  chart.resize?.disconnect();
  chart.library.purge(chart.plot);
  if (chart.twin) chart.library.purge(chart.twin);
}

function watch(chart) {
  const { plot } = chart;
  chart.watched = true;
  plot.on("plotly_click", ({ points = [], xvals, yvals }) => {
    if (chart.scrolled) return;
    const picked = points.find((point) => point.id !== undefined);
    if (picked) {
      plot.dispatchEvent(new CustomEvent("dpscope-picked", { bubbles: true, composed: true }));
      chart.trigger("picked", JSON.parse(picked.id));
    }
    else if (chart.figure.layout.clickanywhere) chart.trigger("picked", [xvals[0], yvals[0]]);
  });
  plot.on("plotly_selected", (event) => {
    if (!event?.range) return;
    chart.brushes += 1;
    chart.trigger("brushed", { x: event.range.x, y: event.range.y });
  });
  plot.on("plotly_deselect", () => chart.trigger("brushed", {}));
  for (const change of ["plotly_relayout", "plotly_update"]) plot.on(change, () => placeHandle(chart, chart.at));
  chart.width = plot.clientWidth; // as it was last seen: what is drawn out of sight is shown in that width again
  chart.resize = new ResizeObserver(() => {
    if (plot.clientWidth === chart.width || !plot.clientWidth) return;
    chart.width = plot.clientWidth;
    const layout = sized(chart), { width, height, margin, legend, title, xaxis, yaxis } = layout;
    const bars = chart.figure.data.map((trace) => shades(trace, chart.figure.layout, layout)?.colorbar.y);
    const traces = bars.some((y) => y !== undefined) ? { "colorbar.y": bars } : {};
    if (layout.showlegend) traces.name = chart.figure.data.map((trace) => nameIn(trace, layout).name);
    const axes = xaxis && { "xaxis.title.font": xaxis.title.font, "xaxis.nticks": xaxis.nticks, ...(yaxis.ticktext && { "yaxis.ticktext": yaxis.ticktext, "yaxis.tickfont": yaxis.tickfont }) };
    chart.library.update(plot, traces, { width, height, margin, legend, title, ...axes });
  });
  chart.resize.observe(plot);
}

function show(chart, place) {
  chart.frame = place;
  describe(chart);
  const { traces, data } = chart.figure.frames[place];
  // In one call, and not as an animation of these traces alone: that takes the bars of all others away.
  const names = new Set(data.flatMap((trace) => Object.keys(trace)));
  const change = Object.fromEntries([...names].map((name) => [name, data.map((trace) => trace[name])]));
  chart.library.restyle(chart.plot, change, traces);
}

function start(chart, tick = TICK, once = false) {
  chart.timer = setInterval(() => {
    show(chart, (chart.frame + 1) % chart.figure.frames.length);
    if (once && chart.frame === chart.figure.frames.length - 1) stop(chart);
  }, tick);
  chart.play.textContent = "Stop";
}

// A reader who does anything has seen that releases differ, and looks at one.
let busy = false;
const rest = ({ target }) => {
  if (busy) return;
  busy = true;
  for (const chart of charts.values()) {
    if (!chart.figure?.cycling || !chart.timer || chart.player.contains(target)) continue;
    stop(chart);
    show(chart, 0);
  }
};
for (const kind of ["pointerdown", "keydown", "input"]) addEventListener(kind, rest, true);

function stop(chart) {
  clearInterval(chart.timer);
  chart.timer = undefined;
  chart.play.textContent = "Play";
}

// --- a place that can be dragged

function axes(chart) {
  const { xaxis, yaxis } = chart.plot._fullLayout;
  return { xaxis, yaxis };
}

function placeHandle(chart, at = chart.figure.handle) {
  chart.handle.hidden = !at;
  chart.at = at && { x: at.x, y: at.y };
  if (!at) return;
  const { xaxis, yaxis } = axes(chart);
  chart.handle.setAttribute("aria-label", chart.figure.handle.label);
  chart.handle.textContent = chart.figure.handle.letter;
  chart.handle.style.left = `${xaxis._offset + xaxis.d2p(at.x)}px`;
  chart.handle.style.top = `${yaxis._offset + yaxis.d2p(at.y)}px`;
}

// Where a handle may be that is turned: as far from the origin as it was sent.
function onRing({ handle }, { x, y }) {
  if (!handle.turned) return { x, y };
  const [left, low] = handle.origin, angle = Math.atan2(y - low, x - left);
  const radius = Math.hypot(handle.x - left, handle.y - low);
  return { x: left + radius * Math.cos(angle), y: low + radius * Math.sin(angle) };
}

function moveHandle(chart, to) {
  const { figure } = chart, { handle } = figure, at = onRing(figure, to);
  placeHandle(chart, at);
  chart.stands = ""; // it leaves what was sent
  const changed = { x: [], y: [] }, places = [];
  const change = (place, points) => {
    places.push(place);
    changed.x.push(points.map((point) => point[0]));
    changed.y.push(points.map((point) => point[1]));
  };
  const [left, low] = handle.origin, sent = (place) => figure.data[place].x.map((x, k) => [x, figure.data[place].y[k]]);
  if (handle.follows >= 0) change(handle.follows, [handle.origin, [at.x, at.y]]);
  const turn = Math.atan2(at.y - low, at.x - left) - Math.atan2(handle.y - low, handle.x - left);
  const [cos, sin] = [Math.cos(turn), Math.sin(turn)];
  for (const place of handle.turns) {
    change(place, sent(place).map(([x, y]) => [
      left + cos * (x - left) - sin * (y - low), low + sin * (x - left) + cos * (y - low),
    ]));
  }
  const rows = handle.sides.flatMap(sent), ahead = ([x, y]) => (x - left) * (at.x - left) + (y - low) * (at.y - low) > 0;
  handle.sides.forEach((place, other) => change(place, rows.filter((row) => ahead(row) === !other)));
  if (places.length) chart.library.restyle(chart.plot, changed, places);
}

function drag(chart) {
  const { handle } = chart;
  const finish = () => {
    chart.moving = false;
    chart.trigger("moved", [chart.at.x, chart.at.y]);
  };
  handle.onpointerdown = (event) => {
    handle.setPointerCapture(event.pointerId);
    event.preventDefault();
    handle.focus();
  };
  handle.onpointermove = (event) => {
    if (!handle.hasPointerCapture(event.pointerId)) return;
    const { xaxis, yaxis } = axes(chart), box = chart.plot.getBoundingClientRect();
    chart.moving = true;
    moveHandle(chart, {
      x: xaxis.p2d(event.clientX - box.left - xaxis._offset), y: yaxis.p2d(event.clientY - box.top - yaxis._offset),
    });
  };
  handle.onpointerup = (event) => {
    if (handle.hasPointerCapture(event.pointerId)) finish();
  };
  handle.onpointercancel = () => { chart.moving = false; };
  handle.onkeydown = (event) => {
    const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    const move = moves[event.key];
    if (!move) return;
    event.preventDefault();
    const { step, turned, origin } = chart.figure.handle, away = [chart.at.x - origin[0], chart.at.y - origin[1]];
    const far = Math.hypot(...away), angle = Math.atan2(away[1], away[0]) + (step / far) * (move[0] + move[1]);
    moveHandle(chart, turned
      ? { x: origin[0] + far * Math.cos(angle), y: origin[1] + far * Math.sin(angle) }
      : { x: chart.at.x + step * move[0], y: chart.at.y + step * move[1] });
    chart.moving = true;
    clearTimeout(chart.pause);
    chart.pause = setTimeout(finish, 250); // several keys are one move
  };
}

// --- files: made in the browser, of pictures that may be passed on

// The same files from a menu that stands elsewhere on the page, of the chart with this key.
export function files({ parentElement, data }) {
  parentElement.onclick = ({ target }) => download(mounted().find(({ figure }) => figure.key === data.key), target.dataset.kind);
}

async function download(chart, kind) {
  if (!kind || !chart?.figure.download) return;
  const name = chart.figure.title.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");
  const paper = getComputedStyle(document.querySelector(".stApp")).backgroundColor;
  const size = { width: chart.plot.clientWidth, height: chart.plot.clientHeight };
  const figure = { data: chart.plot.data, layout: { ...chart.plot.layout, paper_bgcolor: paper } };
  if (kind === "png") return save(await chart.library.toImage(figure, { format: "png", scale: 2, ...size }), `${name}.png`);
  const code = await (await fetch(new URL(needed(chart.figure), import.meta.url))).text();
  const page = `<!doctype html><meta charset="utf-8"><title></title><p></p><div id="plot"></div>
<script>${code}</script><script type="application/json" id="figure">${escaped(figure)}</script>
<script>const figure = JSON.parse(document.getElementById("figure").textContent);
document.title = figure.title; document.querySelector("p").textContent = figure.sentence;
Plotly.newPlot("plot", figure.data, figure.layout, {responsive: true});</script>`;
  const address = URL.createObjectURL(new Blob([page], { type: "text/html" }));
  save(address, `${name}.html`);
  setTimeout(() => URL.revokeObjectURL(address), 10000);

  function escaped(content) {
    const { title } = chart.figure;
    return JSON.stringify({ ...content, title, sentence: chart.caption.textContent }).replaceAll("<", "\\u003c");
  }
}

function save(address, name) {
  const link = document.createElement("a");
  Object.assign(link, { href: address, download: name });
  link.click();
}
