// Compares sentences with each other, as a table in which similar pairs are dark.
import { ask, note } from "./server.js";
import { word } from "./words.js";

const get = (id) => document.getElementById(id);
const EXAMPLES = ["How do I get my money back?", "I want a refund.", "The weather is fine today.", "비가 온다.", "비가 내린다."];

/** Connect the form. */
export function prepareCompare() {
  get("sentences").value = EXAMPLES.join("\n");
  get("compare-form").addEventListener("submit", (event) => {
    event.preventDefault();
    compare();
  });
}

async function compare() {
  const texts = get("sentences").value.split("\n").map((line) => line.trim()).filter(Boolean);
  if (texts.length < 2 || texts.length > 20) return note("compare-note", word("tooFew"), true);
  try {
    const vectors = await ask("/embed", { method: "POST", body: { inputs: texts, normalize: true } });
    draw(texts, vectors);
    note("compare-note", "");
  } catch (error) {
    note("compare-note", error.message, true);
  }
}

const dot = (a, b) => a.reduce((sum, value, at) => sum + value * b[at], 0);

function draw(texts, vectors) {
  const table = document.createElement("table");
  const numbers = texts.map((_, at) => heading(at + 1, "col"));
  table.createTHead().insertRow().append(document.createElement("td"), ...numbers);
  table.tHead.rows[0].cells[0].style.background = "none";
  const body = table.createTBody();
  for (const [row, vector] of vectors.entries()) {
    const line = body.insertRow();
    line.append(heading(row + 1, "row"));
    for (const [column, other] of vectors.entries()) {
      const value = dot(vector, other), cell = line.insertCell();
      cell.textContent = value.toFixed(2);
      cell.title = `${texts[row]}\n${texts[column]}`;
      cell.style.setProperty("--share", Math.max(0, value).toFixed(3));
      cell.classList.toggle("strong", value > 0.7);
    }
  }
  get("heat").replaceChildren(table);
  get("heat").hidden = false;
  get("heat-texts").replaceChildren(...texts.map((text) => {
    const item = document.createElement("li");
    item.textContent = text;
    return item;
  }));
}

function heading(number, scope) {
  const made = document.createElement("th");
  made.scope = scope;
  made.textContent = number;
  return made;
}
