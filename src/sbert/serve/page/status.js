// The state of the server, every two seconds while it is shown.
import { ask } from "./server.js";
import { word } from "./words.js";

const get = (id) => document.getElementById(id);
const PAUSE = 2000, KEPT = 90;
const past = [];
let timer = 0;

/** Show the state, and go on while the section is open. */
export async function showStatus() {
  clearTimeout(timer);
  try {
    draw(await ask("/status"));
  } catch (error) {
    get("tiles").replaceChildren(tile(word("status"), error.message));
  }
  if (!get("status").hidden) timer = setTimeout(showStatus, PAUSE);
}

function draw(status) {
  const { last_minute: last, queue, cache } = status;
  past.push(last);
  if (past.length > KEPT) past.shift();
  const looked = cache.hits + cache.misses;
  const tiles = [
    [word("requests"), last.requests], [word("p50"), `${last.p50_ms} ms`], [word("p99"), `${last.p99_ms} ms`],
    [word("tokens"), last.tokens_per_second], [word("failed"), last.failed], [word("waiting"), queue.tokens],
    [word("cache"), looked ? `${Math.round(100 * cache.hits / looked)}%` : "–"], [word("uptime"), duration(status.uptime_seconds)],
  ];
  if (status.store) tiles.unshift([word("texts"), status.store.texts.toLocaleString()]);
  get("tiles").replaceChildren(...tiles.map(([name, value]) => tile(name, value)));
  line("latency-line", ["p50_ms", "p99_ms"]);
  line("throughput-line", ["requests_per_second"]);
  models(status.models);
}

function tile(name, value) {
  const made = document.createElement("div"), term = document.createElement("dt"), text = document.createElement("dd");
  term.textContent = name;
  text.textContent = value;
  made.append(term, text);
  return made;
}

function line(id, fields) {
  const top = Math.max(1e-9, ...past.flatMap((one) => fields.map((field) => one[field])));
  get(id).replaceChildren(...fields.map((field, place) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", "polyline");
    const step = 300 / Math.max(1, past.length - 1);
    made.setAttribute("points", past.map((one, at) => `${at * step},${56 - 52 * one[field] / top}`).join(" "));
    if (place) made.classList.add("other");
    return made;
  }));
}

function models(found) {
  const table = get("models");
  table.replaceChildren();
  const head = table.createTHead().insertRow();
  for (const name of ["model", "kind", "length"]) {
    const cell = document.createElement("th");
    cell.scope = "col";
    cell.textContent = word(name);
    head.append(cell);
  }
  const body = table.createTBody();
  for (const model of found) {
    const row = body.insertRow();
    for (const value of [model.name, model.kind, model.max_length]) row.insertCell().textContent = value;
  }
}

function duration(seconds) {
  if (seconds < 120) return `${Math.round(seconds)} s`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
}
