// Columns and tables beside an editor: a click writes the name where the cursor stands. Names are text, never markup.
export default function ({ data, parentElement }) {
  const root = parentElement.querySelector("section");
  const make = (kind, text, name) => {
    const made = document.createElement(kind);
    made.textContent = text;
    made.className = name || "";
    return made;
  };
  const write = (text) => {
    const box = document.querySelector(`.st-key-${data.editor} textarea`);
    if (!box) return;
    const { selectionStart: from, selectionEnd: to, value } = box;
    const gap = from > 0 && !/[\s(.,]$/.test(value.slice(0, from)) ? " " : "";
    const setter = Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value").set;
    setter.call(box, value.slice(0, from) + gap + text + value.slice(to)); // as typed: the page sees it, too
    box.dispatchEvent(new Event("input", { bubbles: true }));
    box.focus();
    const at = from + gap.length + text.length;
    box.setSelectionRange(at, at);
  };
  const button = (text, written, hint) => {
    const made = make("button", text);
    made.type = "button";
    made.title = hint;
    made.onclick = () => write(written);
    return made;
  };
  root.replaceChildren(make("div", data.title, "title"));
  const list = make("ul", "");
  list.tabIndex = 0; // it scrolls
  list.ariaLabel = data.title;
  for (const each of data.columns) {
    const line = make("li", "");
    const hint = [each.name, each.type, ...each.marks, each.comment].filter(Boolean).join(" · ");
    line.append(button(each.name, each.written, `${hint}\n${data.hint}`), make("span", each.type, "type"));
    for (const mark of each.marks) line.append(make("span", mark, "mark"));
    if (each.comment) line.append(make("div", each.comment, "comment"));
    list.append(line);
  }
  root.append(list, make("div", data.others, "title"));
  const tables = make("div", "", "tables");
  for (const each of data.tables) tables.append(button(each.replaceAll("`", ""), each, data.hint));
  root.append(tables);
}
