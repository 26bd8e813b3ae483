// The map of the store, a page of its own in a frame that may do nothing else.
import { note, send } from "./server.js";
import { word } from "./words.js";

const frame = document.getElementById("map-frame");
const PAUSE = 1500;
let waiting = false;

/** Show the map, and wait while it is being drawn. */
export async function showMap() {
  if (waiting) return;
  waiting = true;
  try {
    let response = await send("/map");
    while (response.status === 202 && !document.getElementById("map").hidden) {
      note("map-note", word("drawing"));
      await new Promise((resolve) => setTimeout(resolve, PAUSE));
      response = await send("/map");
    }
    if (response.status === 200) {
      const page = await response.text();
      if (frame.srcdoc !== page) frame.srcdoc = page;
      frame.hidden = false;
    }
    note("map-note", "");
  } catch (error) {
    note("map-note", error.message, true);
  } finally {
    waiting = false;
  }
}
