// A box to type in, over the page: what is typed finds pages, tables, tags and snapshots. Names are text, never markup.
const MOST = 200;

// Following a link to another page, Streamlit adds its bare address to the history and then, sometimes as another entry,
// the same with parameters. Back to the bare one would open the default table, so the second takes its place.
const replaceBare = (away) => {
  if (window.snapscopeReplacesBare) return;
  window.snapscopeReplacesBare = true;
  const push = history.pushState;
  history.pushState = (state, title, url) => {
    const to = new URL(url ?? location.href, location.href);
    const isBare = !location.search && !away.includes(location.pathname.split("/").pop());
    const entry = isBare && to.search && to.pathname === location.pathname ? history.replaceState : push;
    return entry.call(history, state, title, url);
  };
};

export default function ({ data, parentElement, setTriggerValue }) {
  replaceBare(data.away);
  const open = parentElement.querySelector("button.open");
  const dialog = parentElement.querySelector("dialog");
  const input = parentElement.querySelector("input");
  const list = parentElement.querySelector("ul");
  const hint = parentElement.querySelector("p");
  const { labels } = data;
  const entries = data.groups.flatMap(({ kind, name, rows }) =>
    rows.map(([text, target]) => ({ kind, name, text, target, sought: `${text} ${name}`.toLowerCase() })));
  const keys = /mac/i.test(navigator.platform) ? "⌘K" : "Ctrl+K";
  open.title = open.ariaLabel = `${labels.open} (${keys})`;
  open.setAttribute("aria-keyshortcuts", "Control+K Meta+K");
  open.hidden = false; // it has a name now
  dialog.ariaLabel = list.ariaLabel = input.ariaLabel = labels.open;
  input.placeholder = labels.placeholder;
  let shown = [];
  let at = 0;

  const rank = (entry, words) => {
    const start = entry.text.toLowerCase().search(/[\p{L}\p{N}]/u); // a sign may stand before the name
    const name = entry.text.toLowerCase().slice(Math.max(start, 0));
    if (name.startsWith(words)) return /^[\p{L}\p{N}]/u.test(name.slice(words.length)) ? 1 : 0;
    return name.split(/[^\p{L}\p{N}]+/u).some((each) => each.startsWith(words)) ? 2 : 3;
  };
  const select = (next) => {
    at = Math.max(0, Math.min(next, list.children.length - 1));
    [...list.children].forEach((each, place) => { each.ariaSelected = place === at; });
    if (list.children[at]) {
      input.setAttribute("aria-activedescendant", list.children[at].id);
      list.children[at].scrollIntoView({ block: "nearest" });
    } else input.removeAttribute("aria-activedescendant");
  };
  const go = (place) => {
    if (!shown[place]) return;
    dialog.close();
    setTriggerValue("go", { kind: shown[place].kind, target: shown[place].target });
  };
  const draw = () => {
    const typed = input.value.trim();
    const words = typed.toLowerCase();
    const parts = words.split(/\s+/);
    const found = entries.filter((each) => parts.every((part) => each.sought.includes(part)));
    if (words) {
      const ranked = found.map((entry) => [rank(entry, words), entry]);
      found.splice(0, found.length, ...ranked.sort((one, other) => one[0] - other[0]).map((each) => each[1]));
    }
    shown = found.slice(0, MOST);
    if (typed && labels.version) {
      shown.push({ kind: "version", name: labels.typed, text: labels.version.replace("{text}", typed), target: typed });
    }
    list.replaceChildren(...shown.map((entry, place) => {
      const line = document.createElement("li");
      line.id = `found-${place}`;
      line.role = "option";
      for (const text of [entry.text, entry.name]) {
        const part = document.createElement("span");
        part.textContent = text;
        line.append(part);
      }
      line.onpointermove = () => { if (at !== place) select(place); };
      line.onclick = () => go(place);
      return line;
    }));
    hint.textContent = shown.length ? (found.length > MOST ? labels.more : labels.hint) : labels.none;
    select(0);
  };
  const toggle = () => {
    if (dialog.open) return dialog.close();
    input.value = "";
    dialog.showModal();
    draw();
    input.focus();
  };
  const onKey = (event) => {
    if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
    event.preventDefault();
    event.stopPropagation();
    toggle();
  };
  open.onclick = toggle;
  input.oninput = draw;
  dialog.onclick = (event) => { if (event.target === dialog) dialog.close(); }; // beside it
  dialog.onkeydown = (event) => {
    if (event.ctrlKey || event.metaKey || event.isComposing) return;
    event.stopPropagation(); // the page has keys of its own
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 }[event.key];
    if (step) {
      event.preventDefault();
      select(at + step);
    } else if (event.key === "Enter") {
      event.preventDefault();
      go(at);
    } else if (event.key === "Tab") event.preventDefault(); // there is one box
  };
  if (dialog.open) draw(); // the page has been drawn again meanwhile
  document.addEventListener("keydown", onKey, true);
  parentElement.paletteEnds?.();
  parentElement.paletteEnds = () => document.removeEventListener("keydown", onKey, true);
  return parentElement.paletteEnds;
}
