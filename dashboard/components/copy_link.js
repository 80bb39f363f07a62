// Copies the address of the view as the browser shows it: whatever defines the view stands there.
export default function ({ data, parentElement }) {
  const button = parentElement.querySelector("button");
  const said = parentElement.querySelector("span");
  said.textContent = data.label;
  button.title = data.help;
  button.hidden = false; // it has a name now
  const write = async (text) => {
    if (navigator.clipboard) return navigator.clipboard.writeText(text);
    const box = document.createElement("textarea"); // a page without TLS has no clipboard of its own
    box.value = text;
    document.body.append(box);
    box.select();
    document.execCommand("copy");
    box.remove();
    button.focus();
  };
  button.onclick = async () => {
    await write(window.location.href);
    said.textContent = data.done;
    setTimeout(() => { said.textContent = data.label; }, 2000);
  };
}
