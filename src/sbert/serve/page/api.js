// Shows the OpenAPI document: every route with its request and its result.
const place = document.getElementById("routes");

function element(name, text, className = "") {
  const made = document.createElement(name);
  made.textContent = text;
  if (className) made.className = className;
  return made;
}

/** Write references to other schemas out, up to a depth. */
function whole(schema, schemas, depth = 0) {
  if (Array.isArray(schema)) return schema.map((one) => whole(one, schemas, depth));
  if (schema === null || typeof schema !== "object") return schema;
  if (schema.$ref) return depth > 4 ? {} : whole(schemas[schema.$ref.split("/").at(-1)], schemas, depth + 1);
  return Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, whole(value, schemas, depth)]));
}

function route(path, method, operation, schemas) {
  const made = element("details", "", "route"), head = element("summary", "");
  const verb = method.toUpperCase();
  head.append(element("span", verb, `verb ${verb}`), element("code", path), element("span", operation.summary));
  made.append(head, element("p", operation.description));
  const body = operation.requestBody?.content["application/json"].schema;
  const request = body ?? operation.parameters;
  const result = operation.responses["200"].content?.["application/json"].schema;
  for (const [name, schema] of [["Request", request], ["Result", result], ["Error", operation.responses["400"].content["application/json"].schema]]) {
    if (schema) made.append(element("h2", name), element("pre", JSON.stringify(whole(schema, schemas), null, 2)));
  }
  return made;
}

const api = await (await fetch("/openapi.json")).json();
const groups = new Map();
for (const [path, methods] of Object.entries(api.paths)) {
  for (const [method, operation] of Object.entries(methods)) {
    const tag = operation.tags[0];
    if (!groups.has(tag)) groups.set(tag, []);
    groups.get(tag).push(route(path, method, operation, api.components.schemas));
  }
}
place.append(element("p", api.info.description, "note"));
for (const [tag, routes] of groups) place.append(element("h2", tag), ...routes);
