/* The page to play with: points in a plane, five rules, and the rows on the line of each. */
(function () {
  "use strict";
  const S = window.LincentSolver;
  const stage = document.getElementById("play-stage");
  if (!stage || !S) return;

  const SIZE = 600, REACH = 6, SVG = "http://www.w3.org/2000/svg";
  const METHODS = [
    { id: "lcc", title: "LCC", fit: (X, y, p) => S.lcc(X, y, p.C, p.margin) },
    { id: "fqcc", title: "FQCC", fit: (X, y, p) => S.fqcc(X, y, p.C, p.margin) },
    { id: "lda", title: "LDA", fit: (X, y) => S.lda(X, y) },
    { id: "svm", title: "SVM", fit: (X, y, p) => S.svm(X, y, p.C) },
    { id: "logistic", title: "Logistic regression", fit: (X, y, p) => S.logistic(X, y, p.C) },
  ];
  const get = (id) => document.getElementById(id);
  const say = (text) => { get("play-said").textContent = text; };
  const names = { "-1": "blue", 1: "orange" };
  let points = [], chosen = 0, dragged = null, seed = 1;

  /* A small generator with a seed, so that a cloud can be shown again. */
  function random() {
    seed = (seed * 1664525 + 1013904223) % 4294967296;
    return (seed + 0.5) / 4294967296;
  }
  const normal = () => Math.sqrt(-2 * Math.log(random())) * Math.cos(2 * Math.PI * random());

  function cloud(sizes, outliers) {
    seed = Number(get("play-seed").value) * 7919 + 17;
    points = [];
    [[-1, -1.4, -0.7, 0.8, 1.3], [1, 1.4, 0.7, 1.2, 0.8]].forEach(([label, cx, cy, sx, sy], k) => {
      for (let i = 0; i < sizes[k]; i += 1) points.push({ x: cx + sx * normal(), y: cy + sy * normal(), label });
    });
    for (let i = 0; i < outliers; i += 1) points.push({ x: 4.6 + 0.3 * normal(), y: 4.2 + 0.3 * normal(), label: -1 });
    chosen = 0;
  }

  const toScreen = (p) => [((p.x + REACH) / (2 * REACH)) * SIZE, ((REACH - p.y) / (2 * REACH)) * SIZE];
  const clamp = (v) => Math.max(-REACH + 0.1, Math.min(REACH - 0.1, v));
  function fromEvent(event) {
    const box = stage.getBoundingClientRect();
    return {
      x: clamp(((event.clientX - box.left) / box.width) * 2 * REACH - REACH),
      y: clamp(REACH - ((event.clientY - box.top) / box.height) * 2 * REACH),
    };
  }

  function make(tag, attributes, parent) {
    const element = document.createElementNS(SVG, tag);
    Object.entries(attributes).forEach(([name, value]) => element.setAttribute(name, value));
    if (parent) parent.appendChild(element);
    return element;
  }

  function mark(point, parent, extra) {
    const [x, y] = toScreen(point);
    const kind = point.label < 0 ? "blue" : "orange";
    if (point.label < 0) return make("circle", { cx: x, cy: y, r: 6.5, class: `mark ${kind} ${extra}` }, parent);
    const path = `M${x - 7.5} ${y + 6}h15l-7.500 -13z`;
    return make("path", { d: path, class: `mark ${kind} ${extra}` }, parent);
  }

  /* The line coef.x + intercept = 0, far beyond the picture, which cuts it. */
  function ends(rule) {
    const [a, b] = rule.coef, square = a * a + b * b;
    if (!(square > 0)) return null;
    const foot = [(-rule.intercept * a) / square, (-rule.intercept * b) / square];
    const along = [-b / Math.sqrt(square), a / Math.sqrt(square)];
    return [-40, 40].map((t) => toScreen({ x: foot[0] + t * along[0], y: foot[1] + t * along[1] }));
  }

  function settings(X, y) {
    const largest = S.largestMargin(X, y);
    const asked = 10 ** Number(get("play-margin").value);
    const margin = Math.min(asked, largest);
    get("play-margin-value").textContent = margin < asked
      ? `${margin.toPrecision(2)} (the largest there is)` : margin.toPrecision(2);
    const C = 10 ** Number(get("play-c").value);
    get("play-c-value").textContent = C.toPrecision(2);
    return { C, margin };
  }

  const score = (rule, x) => rule.coef[0] * x[0] + rule.coef[1] * x[1] + rule.intercept;
  function balancedAccuracy(rule, X, y) {
    const right = [0, 0], all = [0, 0];
    X.forEach((x, i) => {
      const k = y[i] > 0 ? 1 : 0;
      all[k] += 1;
      if ((score(rule, x) > 0) === (y[i] > 0)) right[k] += 1;
    });
    return (right[0] / all[0] + right[1] / all[1]) / 2;
  }

  /* Both classes on the line of a rule: scores over half the distance of the centers, cut at 0. */
  function histogram(method, rule, X, y) {
    const row = get(`play-line-${method.id}`);
    const svg = row.querySelector("svg");
    svg.replaceChildren();
    const bins = 44, width = 600, height = 56, counts = [new Array(bins).fill(0), new Array(bins).fill(0)];
    const scores = X.map((x) => score(rule, x));
    const mean = [0, 1].map((k) => {
      const part = scores.filter((_, i) => (y[i] > 0) === (k === 1));
      return part.reduce((a, b) => a + b, 0) / part.length;
    });
    const unit = Math.abs(mean[1] - mean[0]) / 2 || 1;
    scores.forEach((value, i) => {
      const place = Math.floor(((Math.max(-2.99, Math.min(2.99, value / unit)) + 3) / 6) * bins);
      counts[y[i] > 0 ? 1 : 0][place] += 1;
    });
    const top = Math.max(1, ...counts[0], ...counts[1]);
    counts.forEach((part, k) => part.forEach((count, place) => {
      if (!count) return;
      const h = ((height / 2 - 2) * count) / top, x = (place * width) / bins;
      const y0 = k === 0 ? height / 2 - h : height / 2;
      make("rect", { x, y: y0, width: width / bins - 1, height: h, class: k ? "bar orange" : "bar blue" }, svg);
    }));
    make("path", { d: `M0 ${height / 2}H${width}`, class: "axis" }, svg);
    make("path", { d: `M${width / 2} 0V${height}`, class: "cut" }, svg);
    const part = Math.round(1000 * balancedAccuracy(rule, X, y)) / 10;
    row.querySelector("output").textContent = `${part.toFixed(1)} %`;
    svg.setAttribute("aria-label", `Rows on the line of ${method.title}: balanced accuracy ${part.toFixed(1)} percent.`);
  }

  function draw() {
    const X = points.map((p) => [p.x, p.y]), y = points.map((p) => p.label);
    const counts = [y.filter((v) => v < 0).length, y.filter((v) => v > 0).length];
    stage.replaceChildren();
    if (counts[0] && counts[1]) {
      const asked = settings(X, y);
      for (const method of METHODS) {
        const shown = get(`play-show-${method.id}`).checked;
        get(`play-line-${method.id}`).hidden = !shown;
        if (!shown) continue;
        const rule = method.fit(X, y, asked);
        const line = ends(rule);
        if (line) make("path", { d: `M${line[0]}L${line[1]}`, class: `rule ${method.id}` }, stage);
        histogram(method, rule, X, y);
        if (method.id === "lcc") {
          get("play-numbers").textContent = `LCC: β = (${rule.coef.map((v) => v.toPrecision(3)).join(", ")}), `
            + `objective ${rule.objective.toPrecision(5)}, ${counts[0]} blue and ${counts[1]} orange points.`;
        }
      }
      S.geometry(X, y).centers.forEach((c, k) => {
        const [cx, cy] = toScreen({ x: c[0], y: c[1] });
        make("path", { d: `M${cx - 9} ${cy}h18M${cx} ${cy - 9}v18`, class: `center ${k ? "orange" : "blue"}` }, stage);
      });
    } else {
      get("play-numbers").textContent = "Both classes need at least one point.";
    }
    points.forEach((p, i) => mark(p, stage, i === chosen && document.activeElement === stage ? "chosen" : ""));
  }

  const mode = () => document.querySelector('input[name="play-mode"]:checked').value;
  const nearest = (at) => {
    let best = -1, least = 0.45;
    points.forEach((p, i) => {
      const far = Math.hypot(p.x - at.x, p.y - at.y);
      if (far < least) { least = far; best = i; }
    });
    return best;
  };
  function relabel(i) {
    points[i].label = -points[i].label;
    say(`Point ${i + 1} is ${names[points[i].label]} now.`);
  }
  function remove(i) {
    if (points.filter((p) => p.label === points[i].label).length === 1) {
      say("The last point of a class stays.");
      return;
    }
    points.splice(i, 1);
    chosen = Math.max(0, Math.min(chosen, points.length - 1));
    say(`Removed. ${points.length} points are left.`);
  }
  function add(at, label) {
    points.push({ ...at, label });
    chosen = points.length - 1;
    say(`A ${names[label]} point at ${at.x.toFixed(1)}, ${at.y.toFixed(1)}.`);
  }

  stage.addEventListener("pointerdown", (event) => {
    const at = fromEvent(event), hit = nearest(at), doing = mode();
    event.preventDefault();
    stage.focus({ preventScroll: true });
    if (hit >= 0) chosen = hit;
    if (doing === "relabel" && hit >= 0) relabel(hit);
    else if (doing === "remove" && hit >= 0) remove(hit);
    else if (hit >= 0) {
      dragged = hit;
      stage.setPointerCapture(event.pointerId);
    } else if (doing === "blue" || doing === "move") add(at, -1);
    else if (doing === "orange") add(at, 1);
    draw();
  });
  stage.addEventListener("pointermove", (event) => {
    if (dragged === null) return;
    Object.assign(points[dragged], fromEvent(event));
    draw();
  });
  const drop = () => { dragged = null; };
  stage.addEventListener("pointerup", drop);
  stage.addEventListener("pointercancel", drop);
  stage.addEventListener("dblclick", (event) => {
    const hit = nearest(fromEvent(event));
    if (hit >= 0 && mode() === "move") relabel(hit);
    draw();
  });

  const MOVES = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
  stage.addEventListener("keydown", (event) => {
    const point = points[chosen], step = event.shiftKey ? 1 : 0.2;
    if (MOVES[event.key]) {
      point.x = clamp(point.x + step * MOVES[event.key][0]);
      point.y = clamp(point.y + step * MOVES[event.key][1]);
      say(`Point ${chosen + 1}, ${names[point.label]}, at ${point.x.toFixed(1)}, ${point.y.toFixed(1)}.`);
    } else if (event.key === "n" || event.key === "p") {
      chosen = (chosen + (event.key === "n" ? 1 : points.length - 1)) % points.length;
      say(`Point ${chosen + 1} of ${points.length}, ${names[points[chosen].label]}.`);
    } else if (event.key === " " || event.key === "Enter") relabel(chosen);
    else if (event.key === "a") add({ x: clamp(point.x + 0.6), y: clamp(point.y + 0.6) }, point.label);
    else if (event.key === "Delete" || event.key === "Backspace") remove(chosen);
    else return;
    event.preventDefault();
    draw();
  });
  stage.addEventListener("focus", draw);
  stage.addEventListener("blur", draw);

  function restart() {
    const sizes = ["blue", "orange"].map((name) => Number(get(`play-${name}`).value));
    ["blue", "orange"].forEach((name, k) => { get(`play-${name}-value`).textContent = sizes[k]; });
    const outliers = Number(get("play-outliers").value);
    get("play-outliers-value").textContent = outliers;
    cloud(sizes, outliers);
    draw();
  }
  ["play-blue", "play-orange", "play-outliers", "play-seed"].forEach((id) => get(id).addEventListener("input", restart));
  ["play-margin", "play-c"].forEach((id) => get(id).addEventListener("input", draw));
  METHODS.forEach((method) => get(`play-show-${method.id}`).addEventListener("change", draw));
  get("play-new").addEventListener("click", () => {
    get("play-seed").value = Number(get("play-seed").value) + 1;
    restart();
  });
  restart();
  window.LincentPlay = { points: () => points, draw };
})();
