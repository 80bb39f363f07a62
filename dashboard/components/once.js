export default function ({ data, parentElement, setTriggerValue }) {
  if (parentElement.onceFor === data.name) return parentElement.onceEnds;
  parentElement.onceEnds?.();
  parentElement.onceFor = data.name;
  const timer = setTimeout(() => setTriggerValue("due", data.name), data.ms);
  parentElement.onceEnds = () => clearTimeout(timer);
  return parentElement.onceEnds;
}
