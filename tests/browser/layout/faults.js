// What is wrong with the words and controls of the page as it is: each fault as its kind, where it is, and the words.
// Words are compared line by line, in pictures as on the page; words that are scrolled out of sight are no fault.
() => {
  const OUT = 1.5, HIGH = 3; // pixels that a box may be beyond another: fonts leave that much empty
  const SMALLEST = 9.9; // pixels of a letter
  const FLAT = { w: 120, h: 60 }; // pixels between the axes, at least
  const LEFT_OUT = `style, script, .hoverlayer, .katex-mathml, defs, [data-testid="stIconMaterial"], [data-testid="stDataFrame"],
    [data-testid="stSidebar"][data-collapsed="true"], [data-testid^="stTabsScroll"]`;
  const app = document.querySelector(".stApp"), faults = [];
  const isShown = (part) => part.checkVisibility({ visibilityProperty: true, opacityProperty: true }) && !part.closest(LEFT_OUT);
  const said = (text) => text.trim().replaceAll(/\s+/g, " ").slice(0, 60);
  const at = (part) => [...(part.closest("[class*=st-key-]")?.classList ?? [])].find((name) => name.startsWith("st-key-"))?.slice(7) ?? "page";
  const report = (kind, part, text = "") => faults.push(`${kind}: ${said(text)} (${at(part)})`);
  const boxes = [];
  // A presentation draws its picture twice as large as the picture itself knows.
  const scaleOf = (part) => {
    const plot = part.closest(".dpscope-plot");
    return plot ? plot.getBoundingClientRect().width / plot.offsetWidth : 1;
  };

  // Notes the part of a box that is seen, and whether something cuts the rest off.
  function note(part, box, text, kind) {
    let { left, right, top, bottom } = box, cut = false;
    for (let outer = part; outer && outer !== document.documentElement; outer = outer.parentElement) {
      const style = getComputedStyle(outer), isPage = !(outer instanceof SVGElement);
      if ((isPage || outer.tagName === "svg") && !["inline", "contents"].includes(style.display)) {
        const edge = outer.getBoundingClientRect(), x = edge.left + (isPage ? outer.clientLeft : 0), y = edge.top + (isPage ? outer.clientTop : 0);
        const [wide, high] = isPage ? [outer.clientWidth, outer.clientHeight] : [edge.width, edge.height];
        if (style.overflowX !== "visible") {
          if (wide < 2) return;
          const beyond = left < x - OUT || right > x + wide + OUT;
          if (beyond && (["hidden", "clip"].includes(style.overflowX) || part.matches("[role=radio]"))) cut = true;
          left = Math.max(left, x);
          right = Math.min(right, x + wide);
        }
        if (style.overflowY !== "visible") {
          if (high < 2) return;
          if (["hidden", "clip"].includes(style.overflowY) && (top < y - HIGH || bottom > y + high + HIGH)) cut = true;
          top = Math.max(top, y);
          bottom = Math.min(bottom, y + high);
        }
      }
      if (style.position === "fixed") break;
    }
    if (cut || left < -OUT || right > innerWidth + OUT) report("cut", part, text);
    if (right - left > 1 && bottom - top > 1) boxes.push({ part, text, kind, left, right, top, bottom });
  }

  // What is chosen in a box is read as a whole: in the box, or below it.
  for (const input of document.querySelectorAll('[data-testid="stSelectbox"] input')) {
    const below = getComputedStyle(input.closest('[data-testid="stSelectbox"]'), "::after").content;
    if (isShown(input) && input.scrollWidth > input.clientWidth && !below.includes(input.value)) report("cut choice", input, input.value);
  }

  // The lines of words, and formulas as one box.
  const walker = document.createTreeWalker(app, NodeFilter.SHOW_TEXT), formulas = new Set();
  while (walker.nextNode()) {
    const { currentNode: node } = walker, part = node.parentElement, formula = part.closest(".katex");
    if (!node.textContent.trim() || !isShown(part) || formulas.has(formula)) continue;
    if (formula) {
      formulas.add(formula);
      if (!formula.closest(".katex-display")) note(formula, formula.getBoundingClientRect(), formula.textContent, "words");
    } else if (part instanceof SVGElement) {
      note(part, part.getBoundingClientRect(), node.textContent, "words");
    } else {
      const range = document.createRange(), lines = [];
      range.selectNodeContents(node);
      for (const { left, right, top, bottom, width } of range.getClientRects()) {
        const line = lines.at(-1);
        if (!width) continue;
        if (line && Math.abs(line.top - top) < HIGH) Object.assign(line, { left: Math.min(line.left, left), right: Math.max(line.right, right) });
        else lines.push({ left, right, top, bottom });
      }
      for (const line of lines) note(part, line, node.textContent, "words");
    }
  }

  const name = (part) => part.getAttribute("aria-label") || part.value || part.textContent;
  for (const part of app.querySelectorAll("button, input, textarea, [role=slider], [role=radio]")) {
    const box = part.getBoundingClientRect();
    if (!isShown(part) || box.width < 4 || box.height < 4 || part.matches(".dpscope-handle")) continue;
    note(part, box, name(part), "control");
    // A box says that it cuts a name, and its list has all of it.
    const says = getComputedStyle(part).textOverflow === "ellipsis";
    if (part.matches("input:is([type=text], [type=number])") && !says && part.scrollWidth > part.clientWidth + 1) report("value cut", part, name(part));
  }

  // Help buttons are larger for a finger than they look; the parts of one control lie on each other as they should.
  const isHelp = ({ part }) => /^Help/.test(part.getAttribute("aria-label") ?? ""), box = "label, [data-rac], [data-testid=stNumberInput]";
  const areOne = (one, other) => one.kind === "control" && other.kind === "control" && one.part.closest(box) && one.part.closest(box) === other.part.closest(box);
  boxes.sort((one, other) => one.top - other.top);
  boxes.forEach((one, place) => {
    for (let next = place + 1; next < boxes.length && boxes[next].top < one.bottom - HIGH; next += 1) {
      const other = boxes[next], near = HIGH * Math.max(scaleOf(one.part), scaleOf(other.part)), wide = Math.min(one.right, other.right) - Math.max(one.left, other.left);
      const high = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
      if (wide <= (isHelp(one) || isHelp(other) ? 5 : 2) || high <= near || areOne(one, other)) continue;
      if (one.text === "?" || other.text === "?") continue; // what is hidden until the reader has guessed
      if (one.part.contains(other.part) || other.part.contains(one.part)) continue;
      report("overlap", one.part, `${said(one.text).slice(0, 28)} / ${said(other.text).slice(0, 28)}`);
    }
  });

  for (const plot of document.querySelectorAll(".dpscope-plot")) {
    if (!isShown(plot)) continue;
    const scale = scaleOf(plot), near = HIGH * scale;
    const lines = [...plot.querySelectorAll(".shapelayer path")].map((line) => line.getBoundingClientRect());
    for (const words of plot.querySelectorAll("g.annotation")) {
      const edge = words.querySelector("text").getBoundingClientRect(), ground = words.querySelector("rect.bg");
      const isCrossed = lines.some((line) => line.left < edge.right - 1 && edge.left + 1 < line.right
        && line.top < edge.bottom - near && edge.top + near < line.bottom);
      const stops = ground && getComputedStyle(ground).fill !== "none" && ground.style.fillOpacity > 0.5;
      if (isCrossed && !stops && words.textContent !== "?") report("crossed by a line", plot, words.textContent);
    }
    for (const words of plot.querySelectorAll("svg text")) {
      if (words.closest(".hoverlayer") || !words.getBoundingClientRect().width) continue;
      if (words.textContent.includes("…")) report("shortened", plot, words.textContent);
      if (parseFloat(getComputedStyle(words).fontSize) < SMALLEST) report("too small", plot, words.textContent);
    }
    const [badge, colours, shades] = [".gtitle", ".colorbar", ".hm"].map((part) => plot.querySelector(part)?.getBoundingClientRect());
    if (colours && !(badge.bottom < colours.top && colours.bottom < shades.top && shades.top - colours.bottom < 30 * scale)) report("scale of shades elsewhere", plot);
    if ([...plot.querySelectorAll(".legend .scrollbar")].some((bar) => bar.getBoundingClientRect().height)) report("legend scrolls", plot);
    const inside = plot._fullLayout?._size;
    if (inside && (inside.w < FLAT.w || inside.h < FLAT.h)) report(`only ${Math.round(inside.w)} x ${Math.round(inside.h)} pixels`, plot);
  }
  // A button's name takes further lines between its words.
  for (const button of app.querySelectorAll("button")) {
    if (!isShown(button)) continue;
    const inside = document.createTreeWalker(button, NodeFilter.SHOW_TEXT), word = document.createRange();
    while (inside.nextNode()) {
      const { currentNode: node } = inside;
      if (!isShown(node.parentElement)) continue;
      for (const { 0: letters, index } of node.textContent.matchAll(/[\p{L}\p{N}]+/gu)) {
        word.setStart(node, index);
        word.setEnd(node, index + letters.length);
        const tops = [...word.getClientRects()].map(({ top }) => top);
        if (Math.max(...tops) - Math.min(...tops) > HIGH) report("broken word", button, letters);
      }
    }
  }
  // Two rows of a switch read as two switches.
  for (const group of document.querySelectorAll('.st-key-lesson_switch [data-testid="stButtonGroup"]')) {
    if (new Set([...group.querySelectorAll("button")].map((each) => each.getBoundingClientRect().top)).size > 1) report("switch in two rows", group, group.textContent);
  }
  const widest = [document.documentElement, ...document.querySelectorAll('[data-testid="stMain"], [data-testid="stSidebarContent"]')];
    for (const part of widest) {
    const scrolls = part === document.documentElement || getComputedStyle(part).overflowX !== "hidden";
    if (isShown(part) && scrolls && part.scrollWidth > part.clientWidth + 1) report(`${part.scrollWidth - part.clientWidth} pixels too wide`, part, part.className);
  }
  // On a phone a formula scrolls by itself.
  for (const formula of innerWidth > 640 ? document.querySelectorAll(".katex-display") : []) {
    if (isShown(formula) && formula.scrollWidth > formula.clientWidth + 4) report("cut", formula, "a formula");
  }
  return [...new Set(faults)];
}
