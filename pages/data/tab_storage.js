// A public text in the storage of this tab: a reload ends the session, but not the tab.

export default function ({ data, setTriggerValue }) {
  const stored = read(data.item);
  if (data.text) write(data.item, { name: data.name, text: data.text });
  else if (!data.restore) write(data.item, null);
  else if (stored?.name === data.name) setTriggerValue("restored", stored.text);
}

function read(item) {
  try {
    return JSON.parse(sessionStorage.getItem(item));
  } catch {
    return null; // storage is not allowed, or holds something else
  }
}

function write(item, stored) {
  try {
    sessionStorage.removeItem(item);
    if (stored) sessionStorage.setItem(item, JSON.stringify(stored));
  } catch {
    return; // storage is not allowed or full: a reload loses the text, as it loses the file
  }
}
