// A calendar beside a version picker: days that have commits are marked, a click on a day, at a time if one is given,
// is written into the picker as text. Days and times are those of the reader's zone; the server reads them.
const DAY_MS = 86_400_000;
const iso = (ms) => new Date(ms).toISOString().slice(0, 10);
const ms = (day) => Date.parse(`${day}T00:00:00Z`);

export default function ({ data, parentElement, setTriggerValue }) {
  const open = parentElement.querySelector(".open");
  const pop = parentElement.querySelector(".pop");
  const say = (of, options) => new Intl.DateTimeFormat(data.language, { timeZone: "UTC", ...options }).format(of);
  let at = parentElement.calendarAt ?? data.chosen; // the day that has the focus; its month is shown
  let time = "";
  open.title = open.ariaLabel = data.labels.open;
  open.hidden = false;
  pop.ariaLabel = data.labels.open;

  const within = (day) => (day < data.first ? data.first : day > data.last ? data.last : day);
  const choose = (day) => {
    pop.hidePopover();
    setTriggerValue("day", `${day} ${time || "23:59:59"}`);
  };
  const move = (to, isFocused) => {
    at = parentElement.calendarAt = within(to);
    draw();
    if (isFocused) pop.querySelector('td button[tabindex="0"]')?.focus();
  };
  const month = (by) => {
    const [year, number, day] = at.split("-").map(Number);
    const last = new Date(Date.UTC(year, number + by, 0)).getUTCDate();
    return iso(Date.UTC(year, number - 1 + by, Math.min(day, last)));
  };
  const turn = (by, sign, label) => {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = sign;
    made.ariaLabel = made.title = label;
    made.disabled = by < 0 ? at.slice(0, 7) <= data.first.slice(0, 7) : at.slice(0, 7) >= data.last.slice(0, 7);
    made.onclick = () => {
      move(month(by));
      const again = pop.querySelectorAll(".line button")[by < 0 ? 0 : 1]; // drawn anew, the focus stays
      (again.disabled ? pop.querySelector('td button[tabindex="0"]') : again).focus();
    };
    return made;
  };
  const cell = (day) => {
    const made = document.createElement("button");
    const count = data.days[day] ?? 0;
    made.type = "button";
    made.textContent = String(Number(day.slice(8)));
    made.ariaLabel = `${say(ms(day), { dateStyle: "full" })}, ${data.labels.commits.replace("{count}", count)}`;
    made.title = data.labels.commits.replace("{count}", count);
    made.disabled = day < data.first || day > data.last;
    made.tabIndex = day === at ? 0 : -1;
    made.className = count ? "has" : "";
    if (day === data.chosen) made.setAttribute("aria-current", "date");
    made.onclick = () => choose(day);
    return made;
  };
  const draw = () => {
    const head = document.createElement("div");
    head.className = "line";
    const title = document.createElement("strong");
    title.textContent = say(ms(at), { year: "numeric", month: "long" });
    title.ariaLive = "polite";
    head.append(turn(-1, "‹", data.labels.before), title, turn(1, "›", data.labels.after));
    const table = document.createElement("table");
    const first = ms(`${at.slice(0, 7)}-01`);
    const monday = first - ((new Date(first).getUTCDay() + 6) % 7) * DAY_MS;
    const names = table.createTHead().insertRow();
    for (let day = 0; day < 7; day += 1) {
      const name = document.createElement("th");
      name.scope = "col";
      name.textContent = say(monday + day * DAY_MS, { weekday: "short" });
      names.append(name);
    }
    const body = table.createTBody();
    for (let week = monday; iso(week).slice(0, 7) <= at.slice(0, 7); week += 7 * DAY_MS) {
      const row = body.insertRow();
      for (let day = 0; day < 7; day += 1) {
        const place = row.insertCell();
        const of = iso(week + day * DAY_MS);
        if (of.slice(0, 7) === at.slice(0, 7)) place.append(cell(of));
      }
    }
    table.onkeydown = (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -7, ArrowDown: 7 }[event.key];
      const by = { PageUp: -1, PageDown: 1 }[event.key];
      if (!step && !by) return;
      event.preventDefault();
      event.stopPropagation();
      move(step ? iso(ms(at) + step * DAY_MS) : month(by), true);
    };
    const foot = document.createElement("div");
    foot.className = "line";
    const label = document.createElement("label");
    const box = document.createElement("input");
    box.type = "time";
    box.value = time;
    box.oninput = () => { time = box.value; };
    box.onkeydown = (event) => { if (event.key === "Enter") choose(at); };
    label.append(data.labels.time, box);
    foot.append(label);
    const hint = document.createElement("p");
    hint.textContent = data.labels.hint;
    pop.replaceChildren(head, table, foot, hint);
  };
  open.onclick = () => {
    if (pop.matches(":popover-open")) return pop.hidePopover();
    move(data.chosen);
    pop.showPopover();
    const by = open.getBoundingClientRect();
    pop.style.left = `${Math.max(8, Math.min(by.right - pop.offsetWidth, innerWidth - pop.offsetWidth - 8))}px`;
    pop.style.top = `${Math.max(8, Math.min(by.bottom + 4, innerHeight - pop.offsetHeight - 8))}px`;
    pop.querySelector('td button[tabindex="0"]')?.focus();
  };
  pop.onkeydown = (event) => event.stopPropagation(); // the page has keys of its own
  pop.ontoggle = (event) => { if (event.newState === "closed" && pop.contains(parentElement.activeElement)) open.focus(); };
  if (pop.matches(":popover-open")) draw(); // the page has been drawn again meanwhile
}
