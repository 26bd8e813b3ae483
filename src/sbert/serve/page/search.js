// Searching the store: as one types, by meaning or by words, with filters, highlighted words and similar documents.
import { ask, note } from "./server.js";
import { word } from "./words.js";

const get = (id) => document.getElementById(id);
const PAUSE = 250;
let timer = 0, running = null;

/** Connect the form and the list of hits. */
export function prepareSearch() {
  get("ask").addEventListener("submit", (event) => {
    event.preventDefault();
    search();
  });
  get("query").addEventListener("input", (event) => event.isComposing || later());
  get("query").addEventListener("compositionend", later);
  for (const id of ["mode", "count", "rerank", "filter"]) get(id).addEventListener("change", search);
  get("query").addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") get("hits").querySelector("button")?.focus();
  });
}

function later() {
  clearTimeout(timer);
  timer = setTimeout(search, PAUSE);
}

async function search() {
  clearTimeout(timer);
  const query = get("query").value.trim();
  if (!query) {
    running?.abort();
    get("hits").replaceChildren();
    return note("summary", "");
  }
  const body = { query, k: Number(get("count").value), mode: get("mode").value, rerank: get("rerank").checked };
  if (get("filter").value.trim()) body.filter = get("filter").value;
  await show((signal) => ask("/search", { method: "POST", body, signal }), query, "");
}

const similar = (id) => {
  const count = get("count").value;
  const path = `/similar/${encodeURIComponent(id)}?k=${count}`;
  return show((signal) => ask(path, { signal }), "", word("similarTo", id));
};

async function show(request, query, extra) {
  running?.abort();
  running = new AbortController();
  const began = performance.now();
  try {
    const found = await request(running.signal);
    const took = Math.round(performance.now() - began);
    get("hits").replaceChildren(...found.hits.map((hit) => item(hit, query)));
    const how = found.exact ? "" : word("approximate");
    note("summary", found.hits.length ? word("found", found.hits.length, took) + how + extra : word("nothing"));
  } catch (error) {
    if (error.name !== "AbortError") note("summary", error.message, true);
  }
}

function item(hit, query) {
  const row = document.createElement("li"), text = document.createElement("p"), facts = document.createElement("div");
  text.append(...highlighted(hit.text, query));
  facts.className = "facts";
  const score = document.createElement("span"), id = document.createElement("span"), actions = document.createElement("span");
  score.textContent = hit.score.toFixed(3);
  id.textContent = `#${hit.id}`;
  actions.className = "actions";
  actions.append(button(word("more"), () => similar(hit.id)));
  if (document.documentElement.classList.contains("writable")) actions.append(button(word("remove"), () => remove(hit.id, row)));
  facts.append(score, id, ...Object.entries(hit.metadata).map(chip).filter(Boolean), actions);
  row.append(text, facts);
  return row;
}

function button(label, act) {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = label;
  made.addEventListener("click", act);
  return made;
}

/** A field of a document; pressing it adds it to the filter. */
function chip([name, value]) {
  if (value === null || typeof value === "object") return null;
  return button(`${name}: ${value}`, () => {
    const written = typeof value === "string" ? JSON.stringify(value) : String(value);
    const test = `\`${name}\` = ${written}`, before = get("filter").value.trim();
    if (!before.includes(test)) get("filter").value = before ? `(${before}) and ${test}` : test;
    search();
  });
}

async function remove(id, row) {
  if (!confirm(word("sure"))) return;
  try {
    await ask("/documents", { method: "DELETE", body: { ids: [id] } });
    row.remove();
  } catch (error) {
    note("summary", error.message, true);
  }
}

const letter = (sign) => sign !== undefined && /[\p{L}\p{N}]/u.test(sign);

/** Return parts of a text, with the words of a query marked; of a Korean word, its longest beginning there. */
function highlighted(text, query) {
  const low = text.toLowerCase(), spans = [];
  if (low.length !== text.length) return [text];  // lower case of other length: positions would not fit
  for (const one of new Set(query.toLowerCase().split(/[^\p{L}\p{N}]+/u).filter((part) => part.length > 1))) {
    let part = one;
    const korean = /[\uac00-\ud7a3]/.test(one);
    while (korean && part.length > 2 && !low.includes(part)) part = part.slice(0, -1);
    for (let at = low.indexOf(part); at >= 0; at = low.indexOf(part, at + part.length)) {
      if (korean || !(letter(low[at - 1]) || letter(low[at + part.length]))) spans.push([at, at + part.length]);
    }
  }
  spans.sort((a, b) => a[0] - b[0]);
  const parts = [];
  let end = 0;
  for (const [start, stop] of spans) {
    if (start < end) continue;
    const mark = document.createElement("mark");
    mark.textContent = text.slice(start, stop);
    parts.push(text.slice(end, start), mark);
    end = stop;
  }
  return [...parts, text.slice(end)];
}
