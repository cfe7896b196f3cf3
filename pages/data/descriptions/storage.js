// The description of the file in use, in the storage of this tab: a reload ends the session, but not the tab.

const KEY = "dpscope-description";

export default function ({ data, setTriggerValue }) {
  const stored = read();
  if (data.text) write({ name: data.name, text: data.text });
  else if (!data.restore) write(null);
  else if (stored?.name === data.name) setTriggerValue("restored", stored.text);
}

function read() {
  try {
    return JSON.parse(sessionStorage.getItem(KEY));
  } catch {
    return null; // storage is not allowed, or holds something else
  }
}

function write(description) {
  try {
    sessionStorage.removeItem(KEY);
    if (description) sessionStorage.setItem(KEY, JSON.stringify(description));
  } catch {
    return; // storage is not allowed or full: a reload loses the description, as it loses the file
  }
}
