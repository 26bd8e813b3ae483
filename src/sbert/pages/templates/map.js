"use strict";
// Draws the map: WebGL where there is one, a plain canvas elsewhere. Positions and groups come as base64, texts as JSON.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer;
  const positions = new Uint16Array(bytes(data.positions));
  const groups = new Uint16Array(bytes(data.groups));
  const count = groups.length, none = 65535;
  const stage = document.getElementById("stage"), tip = document.getElementById("tip");
  const points = document.getElementById("points"), over = document.getElementById("labels");
  const field = document.getElementById("find"), status = document.getElementById("status");
  const legend = document.getElementById("legend");
  const ink = over.getContext("2d");
  const view = { x: 0.5, y: 0.5, scale: 1 };  // the centre in units of the map, and the zoom
  let matches = null, only = null, hovered = -1, waiting = false;

  const dark = matchMedia("(prefers-color-scheme: dark)");
  const colour = (group) => {
    if (group === none) return dark.matches ? [120, 128, 145] : [150, 158, 172];
    const hue = (group * 137.508) % 360, light = [0.62, 0.52, 0.7][group % 3] - (dark.matches ? -0.06 : 0.08);
    return fromHsl(hue, 0.62, light);
  };
  function fromHsl(hue, saturation, light) {
    const half = saturation * Math.min(light, 1 - light);
    const part = (n) => {
      const k = (n + hue / 30) % 12;
      return Math.round(255 * (light - half * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
    };
    return [part(0), part(8), part(4)];
  }
  const shown = (row) => (only === null || groups[row] === only) && (matches === null || matches[row] === 1);
  const paint = new Uint8Array(4 * count);
  function repaint() {
    const palette = new Map();
    for (let row = 0; row < count; row++) {
      const group = groups[row];
      if (!palette.has(group)) palette.set(group, colour(group));
      paint.set(palette.get(group), 4 * row);
      paint[4 * row + 3] = shown(row) ? 210 : 40;
    }
    renderer.recolour();
    redraw();
  }

  const size = () => Math.min(9, Math.max(1.6, 260 / Math.sqrt(count + 400)) * Math.pow(view.scale, 0.35));
  const side = () => Math.min(stage.clientWidth, stage.clientHeight) * 0.94;
  const toX = (x) => stage.clientWidth / 2 + (x - view.x) * side() * view.scale;
  const toY = (y) => stage.clientHeight / 2 + (y - view.y) * side() * view.scale;

  function withWebGl() {
    const gl = points.getContext("webgl", { antialias: true, premultipliedAlpha: false });
    if (!gl) return null;
    const shader = (kind, source) => {
      const made = gl.createShader(kind);
      gl.shaderSource(made, source);
      gl.compileShader(made);
      return made;
    };
    const program = gl.createProgram();
    gl.attachShader(program, shader(gl.VERTEX_SHADER, `attribute vec2 place; attribute vec4 tint; varying vec4 colour;
      uniform vec2 centre; uniform vec2 zoom; uniform float size;
      void main() { gl_Position = vec4((place - centre) * zoom, 0.0, 1.0); gl_PointSize = size; colour = tint; }`));
    gl.attachShader(program, shader(gl.FRAGMENT_SHADER, `precision mediump float; varying vec4 colour;
      void main() { float away = length(gl_PointCoord - 0.5); if (away > 0.5) discard; gl_FragColor = colour; }`));
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS)) return null;
    gl.useProgram(program);
    const attribute = (name, width, kind, values) => {
      const buffer = gl.createBuffer(), place = gl.getAttribLocation(program, name);
      gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
      gl.bufferData(gl.ARRAY_BUFFER, values, gl.DYNAMIC_DRAW);
      gl.enableVertexAttribArray(place);
      gl.vertexAttribPointer(place, width, kind, true, 0, 0);
      return buffer;
    };
    attribute("place", 2, gl.UNSIGNED_SHORT, positions);
    const tints = attribute("tint", 4, gl.UNSIGNED_BYTE, paint);
    const uniform = (name) => gl.getUniformLocation(program, name);
    const centre = uniform("centre"), zoom = uniform("zoom"), dot = uniform("size");
    gl.enable(gl.BLEND);
    gl.blendFuncSeparate(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA, gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    return {
      recolour() {
        gl.bindBuffer(gl.ARRAY_BUFFER, tints);
        gl.bufferSubData(gl.ARRAY_BUFFER, 0, paint);
      },
      draw() {
        gl.viewport(0, 0, points.width, points.height);
        gl.clearColor(0, 0, 0, 0);
        gl.clear(gl.COLOR_BUFFER_BIT);
        const unit = 2 * side() * view.scale;
        gl.uniform2f(centre, view.x, view.y);
        gl.uniform2f(zoom, unit / stage.clientWidth, -unit / stage.clientHeight);
        gl.uniform1f(dot, size() * devicePixelRatio);
        gl.drawArrays(gl.POINTS, 0, count);
      },
    };
  }
  function withCanvas() {
    const pen = points.getContext("2d");
    return {
      recolour() {},
      draw() {
        pen.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
        pen.clearRect(0, 0, stage.clientWidth, stage.clientHeight);
        const width = size();
        for (let row = 0; row < count; row++) {
          const at = 4 * row;
          pen.fillStyle = `rgba(${paint[at]},${paint[at + 1]},${paint[at + 2]},${paint[at + 3] / 255})`;
          const x = toX(positions[2 * row] / 65535), y = toY(positions[2 * row + 1] / 65535);
          pen.fillRect(x - width / 2, y - width / 2, width, width);
        }
      },
    };
  }
  let renderer = withWebGl();
  if (!renderer) {  // a canvas that was asked for WebGL gives nothing else
    renderer = withCanvas();
  }

  const cells = 128, grid = new Map();  // rows by the cell of the map they lie in
  for (let row = 0; row < count; row++) {
    const cell = (positions[2 * row] >> 9) * cells + (positions[2 * row + 1] >> 9);
    if (!grid.has(cell)) grid.set(cell, []);
    grid.get(cell).push(row);
  }
  function nearest(x, y) {
    const unit = side() * view.scale, reach = Math.max(10, size());
    const mapX = (x - stage.clientWidth / 2) / unit + view.x, mapY = (y - stage.clientHeight / 2) / unit + view.y;
    const range = reach / unit, low = (value) => Math.max(0, Math.floor((value - range) * cells));
    const high = (value) => Math.min(cells - 1, Math.floor((value + range) * cells));
    let best = -1, least = reach * reach;
    for (let column = low(mapX); column <= high(mapX); column++) {
      for (let line = low(mapY); line <= high(mapY); line++) {
        for (const row of grid.get(column * cells + line) || []) {
          if (!shown(row)) continue;
          const away = (toX(positions[2 * row] / 65535) - x) ** 2 + (toY(positions[2 * row + 1] / 65535) - y) ** 2;
          if (away < least) { least = away; best = row; }
        }
      }
    }
    return best;
  }

  function drawLabels() {
    const style = getComputedStyle(document.documentElement);
    ink.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
    ink.clearRect(0, 0, stage.clientWidth, stage.clientHeight);
    ink.font = "600 13px system-ui, 'Noto Sans KR', 'Noto Sans CJK KR', sans-serif";
    ink.textAlign = "center";
    ink.lineWidth = 4;
    ink.lineJoin = "round";
    ink.strokeStyle = style.getPropertyValue("--paper");
    const taken = [];
    data.labels.forEach(({ x, y, group, text }) => {
      if (only !== null && group !== only) return;
      const left = toX(x), top = toY(y), half = ink.measureText(text).width / 2 + 3;
      const box = [left - half, top - 9, left + half, top + 9];
      if (taken.some((b) => box[0] < b[2] && box[2] > b[0] && box[1] < b[3] && box[3] > b[1])) return;
      taken.push(box);
      ink.strokeText(text, left, top + 4);
      ink.fillStyle = style.getPropertyValue("--ink");
      ink.fillText(text, left, top + 4);
    });
    if (hovered >= 0) {
      ink.beginPath();
      ink.lineWidth = 2;
      ink.strokeStyle = style.getPropertyValue("--ink");
      ink.arc(toX(positions[2 * hovered] / 65535), toY(positions[2 * hovered + 1] / 65535), size() / 2 + 3, 0, 7);
      ink.stroke();
    }
  }
  function redraw() {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      renderer.draw();
      drawLabels();
    });
  }
  function resize() {
    for (const canvas of [points, over]) {
      canvas.width = Math.round(stage.clientWidth * devicePixelRatio);
      canvas.height = Math.round(stage.clientHeight * devicePixelRatio);
    }
    redraw();
  }

  function hover(row, x, y) {
    if (row === hovered && row < 0) return;
    hovered = row;
    tip.hidden = row < 0;
    stage.style.cursor = row < 0 ? "grab" : "pointer";
    if (row >= 0) {
      const name = groups[row] === none ? "" : data.names[groups[row]];
      tip.replaceChildren(...[name, data.texts[row]].filter(Boolean).map((text, place, all) => {
        const part = document.createElement(place === 0 && all.length > 1 ? "b" : "span");
        part.textContent = text;
        return part;
      }));
      const left = Math.min(x + 14, stage.clientWidth - tip.offsetWidth - 8);
      const below = y + 18 + tip.offsetHeight < stage.clientHeight;
      tip.style.left = `${Math.max(8, left)}px`;
      tip.style.top = `${Math.max(8, below ? y + 18 : y - tip.offsetHeight - 12)}px`;
    }
    redraw();
  }
  function zoom(factor, x, y) {
    const unit = side() * view.scale;
    const scale = Math.min(400, Math.max(0.5, view.scale * factor)), change = 1 / unit - 1 / (side() * scale);
    view.x += (x - stage.clientWidth / 2) * change;
    view.y += (y - stage.clientHeight / 2) * change;
    view.scale = scale;
    redraw();
  }
  const home = () => { Object.assign(view, { x: 0.5, y: 0.5, scale: 1 }); redraw(); };

  const fingers = new Map();
  const place = (event) => [event.clientX - stage.getBoundingClientRect().left, event.clientY - stage.getBoundingClientRect().top];
  const spread = () => {
    const [a, b] = [...fingers.values()];
    return [Math.hypot(a[0] - b[0], a[1] - b[1]), (a[0] + b[0]) / 2, (a[1] + b[1]) / 2];
  };
  stage.addEventListener("pointerdown", (event) => {
    stage.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, place(event));
    if (event.pointerType === "touch" && fingers.size === 1) hover(nearest(...place(event)), ...place(event));
  });
  stage.addEventListener("pointermove", (event) => {
    const [x, y] = place(event), before = fingers.get(event.pointerId);
    if (!before) return hover(nearest(x, y), x, y);
    const old = fingers.size === 2 ? spread() : null;
    fingers.set(event.pointerId, [x, y]);
    if (old) {
      const now = spread();
      zoom(now[0] / Math.max(old[0], 1), now[1], now[2]);
    } else if (fingers.size === 1) {
      view.x -= (x - before[0]) / (side() * view.scale);
      view.y -= (y - before[1]) / (side() * view.scale);
      redraw();
    }
  });
  for (const end of ["pointerup", "pointercancel"]) {
    stage.addEventListener(end, (event) => fingers.delete(event.pointerId));
  }
  stage.addEventListener("pointerleave", () => hover(-1, 0, 0));
  stage.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoom(Math.exp(-event.deltaY / 400), ...place(event));
  }, { passive: false });
  stage.addEventListener("dblclick", (event) => zoom(2, ...place(event)));
  document.getElementById("home").addEventListener("click", home);
  const plain = (text) => text.normalize("NFC").toLowerCase();
  const folded = [];
  field.addEventListener("input", () => {
    const wanted = plain(field.value.trim());
    if (!folded.length) for (const text of data.texts) folded.push(plain(text));
    matches = wanted ? Uint8Array.from(folded, (text) => (text.includes(wanted) ? 1 : 0)) : null;
    const found = matches ? matches.reduce((sum, one) => sum + one, 0) : count;
    status.textContent = matches ? `${found.toLocaleString()} of ${count.toLocaleString()}` : "";
    repaint();
  });
  document.addEventListener("keydown", (event) => {
    if (event.target === field) return event.key === "Escape" && field.blur();
    const step = 0.1 / view.scale, middle = [stage.clientWidth / 2, stage.clientHeight / 2];
    const actions = {
      "/": () => { event.preventDefault(); field.focus(); }, "+": () => zoom(1.4, ...middle), "-": () => zoom(1 / 1.4, ...middle),
      "0": home, ArrowLeft: () => { view.x -= step; redraw(); }, ArrowRight: () => { view.x += step; redraw(); },
      ArrowUp: () => { view.y -= step; redraw(); }, ArrowDown: () => { view.y += step; redraw(); },
    };
    if (actions[event.key]) actions[event.key]();
  });
  data.names.forEach((name, group) => {
    const button = document.createElement("button"), mark = document.createElement("i");
    mark.style.background = `rgb(${colour(group).join(",")})`;
    button.append(mark, `${name} (${data.sizes[group].toLocaleString()})`);
    button.addEventListener("click", () => {
      only = only === group ? null : group;
      [...legend.children].forEach((other, place) => other.setAttribute("aria-pressed", String(place === only)));
      repaint();
    });
    legend.append(button);
  });
  dark.addEventListener("change", repaint);
  new ResizeObserver(resize).observe(stage);
  resize();
  repaint();
})();
