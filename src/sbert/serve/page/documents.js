// Adding and deleting documents.
import { ask, note } from "./server.js";
import { word } from "./words.js";

const get = (id) => document.getElementById(id);

/** Connect both forms. */
export function prepareDocuments() {
  get("add").addEventListener("submit", (event) => {
    event.preventDefault();
    attempt(add);
  });
  get("remove").addEventListener("submit", (event) => {
    event.preventDefault();
    attempt(remove);
  });
}

async function attempt(act) {
  try {
    note("documents-note", await act());
  } catch (error) {
    note("documents-note", error.message, true);
  }
}

async function add() {
  const texts = get("new-texts").value.split("\n").map((line) => line.trim()).filter(Boolean);
  const id = get("new-id").value.trim(), metadata = object(get("new-metadata").value);
  if (id && texts.length > 1) throw new Error(word("oneId"));
  const documents = texts.map((text) => (id ? { id, text, metadata } : { text, metadata }));
  const added = await ask("/documents", { method: "POST", body: { documents } });
  get("add").reset();
  return word("added", added.new, added.changed);
}

async function remove() {
  const id = get("old-id").value.trim();
  const { deleted } = await ask(`/documents/${encodeURIComponent(id)}`, { method: "DELETE" });
  get("remove").reset();
  return word("deleted", deleted);
}

function object(written) {
  if (!written.trim()) return {};
  try {
    const found = JSON.parse(written);
    if (found && typeof found === "object" && !Array.isArray(found)) return found;
  } catch { /* said below */ }
  throw new Error(word("badMetadata"));
}
