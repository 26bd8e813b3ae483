// The frame of the page: sections, keys, language, and what the server has.
import { prepareCompare } from "./compare.js";
import { prepareDocuments } from "./documents.js";
import { showMap } from "./map.js";
import { prepareSearch } from "./search.js";
import { ask, askForKey } from "./server.js";
import { showStatus } from "./status.js";
import { switchLanguage, translate } from "./words.js";

const tabs = [...document.querySelectorAll('[role="tab"]')];
const visible = () => tabs.filter((tab) => !tab.hidden);
const SHOWN = { map: showMap, status: showStatus };

function open(tab, focus = false) {
  for (const one of tabs) {
    const chosen = one === tab;
    one.setAttribute("aria-selected", chosen);
    one.tabIndex = chosen ? 0 : -1;
    document.getElementById(one.getAttribute("aria-controls")).hidden = !chosen;
  }
  const name = tab.getAttribute("aria-controls");
  history.replaceState(null, "", `#${name}`);
  SHOWN[name]?.();
  if (focus) tab.focus();
  else if (name === "search" && matchMedia("(hover: hover)").matches) document.getElementById("query").focus();
}

function moveBetweenTabs(event) {
  const steps = { ArrowRight: 1, ArrowLeft: -1 };
  const shown = visible(), at = shown.indexOf(event.target);
  if (event.key in steps) open(shown[(at + steps[event.key] + shown.length) % shown.length], true);
  else if (event.key === "Home") open(shown[0], true);
  else if (event.key === "End") open(shown.at(-1), true);
  else return;
  event.preventDefault();
}

function shortcuts(event) {
  const typing = event.target.closest("input, textarea, select, dialog");
  const tab = document.getElementById("tab-search");
  if (event.key === "/" && !typing && !tab.hidden && !event.isComposing) {
    event.preventDefault();
    open(tab);
    document.getElementById("query").focus();
  }
}

/** Show what the server has: a store, a re-ranker, vectors, and documents that may be changed. */
async function adapt() {
  const status = await ask("/status");
  const there = {
    store: status.store !== null,
    write: status.writable,
    reranker: status.reranker !== null,
    vectors: status.models.some((model) => model.kind !== "cross"),
  };
  for (const one of document.querySelectorAll("[data-needs]")) one.hidden = !there[one.dataset.needs];
  document.documentElement.classList.toggle("writable", there.write);
}

async function start() {
  translate();
  for (const tab of tabs) {
    tab.addEventListener("click", () => open(tab));
    tab.addEventListener("keydown", moveBetweenTabs);
  }
  document.addEventListener("keydown", shortcuts);
  document.getElementById("language").addEventListener("click", switchLanguage);
  document.getElementById("enter-key").addEventListener("click", async () => (await askForKey()) && adapt());
  prepareSearch();
  prepareCompare();
  prepareDocuments();
  try {
    await adapt();
  } finally {
    const wanted = document.getElementById(`tab-${location.hash.slice(1)}`);
    open(wanted && !wanted.hidden ? wanted : visible()[0]);
  }
}

start();
