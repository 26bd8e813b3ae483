// Requests to the server, with the key of the user, and errors as sentences.
import { word } from "./words.js";

const dialog = document.getElementById("key-dialog");

/** Ask the user for a key; return whether one was given. */
export function askForKey() {
  const field = document.getElementById("key");
  field.value = sessionStorage.getItem("key") ?? "";
  dialog.returnValue = "cancel";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      const given = dialog.returnValue === "save";
      if (given) sessionStorage.setItem("key", field.value.trim());
      resolve(given);
    }, { once: true });
  });
}

/** Send a request and return the response; a missing or wrong key is asked for once. */
export async function send(path, { method = "GET", body, signal } = {}, again = true) {
  const headers = body === undefined ? {} : { "content-type": "application/json" };
  const key = sessionStorage.getItem("key");
  if (key) headers.authorization = `Bearer ${key}`;
  let response;
  try {
    response = await fetch(path, { method, headers, signal, body: body === undefined ? undefined : JSON.stringify(body) });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error(word("offline"));
  }
  if (response.status === 401 && again && !dialog.open && await askForKey()) return send(path, { method, body, signal }, false);
  if (!response.ok) throw new Error(await sentence(response));
  return response;
}

/** Send a request and return its JSON. */
export const ask = async (path, options) => (await send(path, options)).json();

async function sentence(response) {
  try {
    const found = await response.json();
    return found.error?.message ?? found.error ?? found.message ?? found.detail ?? response.statusText;
  } catch {
    return response.statusText || String(response.status);
  }
}

/** Show a message below a form; errors have another colour. */
export function note(id, text, failed = false) {
  const place = document.getElementById(id);
  place.textContent = text;
  place.classList.toggle("error", failed);
}
