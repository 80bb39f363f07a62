// Colours the SQL in a text area of the page, and completes names in it. The text area stays the editor: its keys,
// its undo and its label are the browser's. Names are text, never markup.
const TOKEN = /(--[^\n]*|\/\*[\s\S]*?(?:\*\/|$))|('(?:[^'\\]|\\[\s\S])*'?|"(?:[^"\\]|\\[\s\S])*"?)|(`[^`]*`?)|(\b\d[\w.]*)|([A-Za-z_]\w*)/g;
const KINDS = [null, "comment", "string", "name", "number", "word"];
const TYPED = /(`[^`\n]*|[\p{L}_][\p{L}\p{N}_$]*)$/u;
const COPIED = ["font", "letterSpacing", "padding", "tabSize", "lineHeight", "borderWidth"];
const MOST = 9;

export default function ({ data, parentElement }) {
  const holder = document.querySelector(`.st-key-${data.editor}`);
  const app = document.querySelector(".stApp");
  const kinds = new Map(data.words.map(({ text, kind }) => [text.toLowerCase(), kind]));
  const list = document.createElement("ul");
  const ink = document.createElement("pre");
  let box = null;
  let shown = [];
  let at = -1;

  const paint = () => {
    const parts = [];
    let done = 0;
    for (const found of box.value.matchAll(TOKEN)) {
      const kind = KINDS[found.findIndex((each, place) => place > 0 && each !== undefined)];
      const known = kind === "word" ? kinds.get(found[0].toLowerCase()) : kind;
      if (!known || known === "name" || known === "column" || known === "table") continue;
      const part = document.createElement("span");
      part.className = `snap-sql-${known}`;
      part.textContent = found[0];
      parts.push(box.value.slice(done, found.index), part);
      done = found.index + found[0].length;
    }
    ink.replaceChildren(...parts, `${box.value.slice(done)}\n`);
    fit();
    document.querySelector(".st-key-query_answer")
      ?.classList.toggle("snap-stale", data.asked !== null && box.value.trim() !== data.asked);
  };
  const fit = () => {
    const style = getComputedStyle(box);
    for (const name of COPIED) ink.style[name] = style[name];
    Object.assign(ink.style, {
      left: `${box.offsetLeft}px`, top: `${box.offsetTop}px`,
      width: `${box.clientWidth + 2 * parseFloat(style.borderLeftWidth)}px`,
      height: `${box.offsetHeight}px`,
    });
    ink.scrollTop = box.scrollTop;
  };
  const close = () => {
    shown = [];
    list.hidden = true;
    box?.removeAttribute("aria-activedescendant");
  };
  const select = (next) => {
    at = (next + shown.length) % shown.length;
    [...list.children].forEach((each, place) => { each.ariaSelected = place === at; });
    box.setAttribute("aria-activedescendant", list.children[at].id);
  };
  const prefix = () => TYPED.exec(box.value.slice(0, box.selectionStart))?.[0] ?? "";
  const isQuoted = (place) => {
    for (const found of box.value.matchAll(TOKEN)) {
      if (found.index < place && place <= found.index + found[0].length) return Boolean(found[1] || found[2]);
    }
    return false;
  };
  const offer = (asked) => {
    const typed = prefix();
    const sought = typed.replace("`", "").toLowerCase();
    if ((!sought && !asked) || box.selectionStart !== box.selectionEnd || isQuoted(box.selectionStart)) return close();
    const isWanted = ({ text, kind }) => text.replaceAll("`", "").toLowerCase().startsWith(sought)
      && (asked || sought.length > 1 || ["column", "table"].includes(kind)); // one letter begins too many keywords
    shown = data.words.filter(isWanted).slice(0, MOST);
    if (!shown.length || (shown.length === 1 && shown[0].text.toLowerCase() === typed.toLowerCase())) return close();
    at = -1;
    list.replaceChildren(...shown.map(({ text, kind }, place) => {
      const line = document.createElement("li");
      line.id = `${data.editor}-word-${place}`;
      line.role = "option";
      line.ariaSelected = false;
      for (const said of [text, data.kinds[kind]]) {
        const part = document.createElement("span");
        part.textContent = said;
        line.append(part);
      }
      line.onmousedown = (event) => { event.preventDefault(); accept(place); };
      return line;
    }));
    const place = caret(box.selectionStart - typed.length);
    list.hidden = false;
    list.style.left = `${Math.max(8, Math.min(place.left, innerWidth - list.offsetWidth - 8))}px`;
    const below = place.bottom + 4;
    list.style.top = `${below + list.offsetHeight > innerHeight ? place.top - list.offsetHeight - 4 : below}px`;
  };
  const caret = (offset) => {
    const range = document.createRange();
    const walker = document.createTreeWalker(ink, NodeFilter.SHOW_TEXT);
    let node = walker.nextNode();
    while (node && offset > node.length) { offset -= node.length; node = walker.nextNode(); }
    range.setStart(node, offset);
    range.setEnd(node, Math.min(offset + 1, node.length));
    return range.getBoundingClientRect();
  };
  const accept = (place) => {
    const typed = prefix();
    const { text, kind } = shown[place];
    const isLow = typed && typed === typed.toLowerCase();
    const written = ["keyword", "function"].includes(kind) && isLow ? text.toLowerCase() : text;
    const [from, to] = [box.selectionStart - typed.length, box.selectionStart];
    const setter = Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value").set;
    box.setSelectionRange(from, to);
    if (!document.execCommand("insertText", false, written)) { // keeps undo; the rest is for browsers without it
      setter.call(box, box.value.slice(0, from) + written + box.value.slice(to));
      box.dispatchEvent(new Event("input", { bubbles: true }));
      box.setSelectionRange(from + written.length, from + written.length);
    }
    close();
  };
  const onInput = () => { paint(); offer(false); };
  const onKey = (event) => {
    if (event.key === " " && event.ctrlKey) {
      event.preventDefault();
      return offer(true);
    }
    if (!shown.length) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const takes = event.key === "Tab" ? Math.max(at, 0) : at;
    if (step && !event.ctrlKey && !event.metaKey) select(at < 0 && step < 0 ? shown.length - 1 : at + step);
    else if (["Tab", "Enter"].includes(event.key) && takes >= 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
      accept(takes);
    } else {
      if (["Escape", "Enter", "ArrowLeft", "ArrowRight", "Home", "End", "Tab"].includes(event.key)) close();
      if (event.key !== "Escape") return;
    }
    event.preventDefault();
    event.stopPropagation(); // it is not the page's key
  };
  const onScroll = () => { ink.scrollTop = box.scrollTop; close(); };
  const resized = new ResizeObserver(() => box?.isConnected && fit());
  const release = () => {
    if (!box) return;
    resized.disconnect();
    for (const [name, heard] of heardOf) box.removeEventListener(name, heard, true);
    box.classList.remove("snap-sql-box");
    ink.remove();
    close();
    box = null;
  };
  const heardOf = [["input", onInput], ["keydown", onKey], ["scroll", onScroll], ["blur", close]];
  const attach = () => {
    const found = holder?.querySelector("textarea");
    if (found === box) return box && ink.textContent !== `${box.value}\n` && paint();
    release();
    if (!found) return;
    box = found;
    box.parentElement.style.position = "relative";
    box.parentElement.append(ink);
    box.classList.add("snap-sql-box");
    box.setAttribute("aria-autocomplete", "list");
    box.setAttribute("aria-controls", list.id);
    box.spellcheck = false;
    for (const [name, heard] of heardOf) box.addEventListener(name, heard, true);
    resized.observe(box);
    paint();
  };
  parentElement.editorEnds?.();
  list.id = `${data.editor}-words`;
  list.className = "snap-sql-words";
  list.role = "listbox";
  list.ariaLabel = data.label;
  list.hidden = true;
  ink.className = "snap-sql-ink";
  ink.ariaHidden = "true";
  app.append(list);
  // React writes a new text into the area, or a new area, when the page is drawn again.
  const watch = new MutationObserver(attach);
  if (holder) watch.observe(holder, { childList: true, subtree: true, characterData: true });
  attach();
  parentElement.editorEnds = () => { watch.disconnect(); release(); list.remove(); };
  return parentElement.editorEnds;
}
