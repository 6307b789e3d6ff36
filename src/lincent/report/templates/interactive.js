/* Charts, the threshold and the what-if form. All texts enter the page as text nodes. */
(function () {
  const data = JSON.parse(document.getElementById("page-data").textContent);
  const SVG = "http://www.w3.org/2000/svg";
  const COLORS = ["s1", "s2", "s3", "s4", "s5", "s6"].map((name) => `var(--${name})`);

  function el(tag, attributes, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
      else if (value === true) node.setAttribute(name, "");
      else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, value);
    }
    node.append(...children.filter((child) => child !== null && child !== undefined));
    return node;
  }
  function svg(parent, tag, attributes, text) {
    const node = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    if (text !== undefined) node.textContent = text;
    parent.append(node);
    return node;
  }
  const minus = (text) => text.replace(/-/g, "−");
  /* As Python rounds: a number halfway between two others goes to the even one. */
  function fixed(value, digits) {
    if (!Number.isFinite(value)) return "–";
    const scaled = Math.abs(value) * 10 ** digits;
    const halfway = scaled % 1 === 0.5 && Number.isInteger(value * 2 ** (digits + 1));
    const even = (2 * Math.round(scaled / 2)) / 10 ** digits;
    return minus((halfway ? Math.sign(value) * even : value).toFixed(digits));
  }
  const signed = (value, digits) => (value >= 0 ? "+" : "") + fixed(value, digits);
  function brief(value) {
    if (value === 0 || !Number.isFinite(value)) return value === 0 ? "0" : "–";
    const size = Math.abs(value);
    if (size >= 1e6 || size < 1e-4) return minus(value.toExponential(2));
    if (size >= 1e4) return minus(Math.round(value).toLocaleString("en"));
    return minus(String(Number(value.toPrecision(4))));
  }
  /* Texts of at most so many letters, which stay different where they were. */
  function shortened(texts, most) {
    const heads = texts.map((text) => (text.length <= most ? text : text.slice(0, most - 1) + "…"));
    return heads.map((head, k) => {
      if (texts[k].length <= most || heads.indexOf(head) === heads.lastIndexOf(head)) return head;
      const half = Math.floor((most - 1) / 2);
      const middle = texts[k].slice(0, half) + "…" + texts[k].slice(-half);
      const twins = texts.filter((text) => text.length > most && text.slice(0, half) + "…" + text.slice(-half) === middle);
      return twins.length === 1 ? middle : `${texts[k].slice(0, most - 4)}… ${k + 1}`;
    });
  }

  /* ---------------------------------------------------------------- charts */
  function ticks(low, high, count) {
    const rough = (high - low) / count || 1;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 2.5, 5, 10].map((k) => k * power).find((k) => k >= rough * 0.999);
    const result = [];
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) result.push(k * step);
    return result;
  }
  function span(values, limits, margin) {
    const finite = values.filter(Number.isFinite);
    let low = Math.min(...finite), high = Math.max(...finite);
    if (low === high) { low -= 0.5; high += 0.5; }
    const pad = margin * (high - low);
    const given = limits || [null, null];
    return [given[0] === null ? low - pad : given[0], given[1] === null ? high + pad : given[1]];
  }
  function legend(host, series) {
    if (series.length < 2) return;
    const list = el("div", { class: "legend" });
    series.forEach((one, k) => list.append(el("span", {}, el("i", { style: `background:${COLORS[k % 6]}` }), one.name)));
    host.append(list);
  }

  function lines(host, spec, say) {
    legend(host, spec.series);
    const width = spec.title ? 300 : 405, height = spec.title ? 190 : 275;
    const series = spec.series;
    const xs = series.flatMap((one) => (one.steps || one.points.map((p) => p[0])));
    const ys = series.flatMap((one) => one.points.map((p) => p[1]).concat((one.band || []).flat()));
    const [x0, x1] = span(xs, spec.xlim, 0), [y0, y1] = span(ys, spec.ylim, 0.06);
    const yticks = ticks(y0, y1, 5);
    const left = 26 + 6.4 * Math.max(...yticks.map((t) => brief(t).length)) - (spec.y ? 0 : 12);
    const bottom = spec.title ? 24 : 44, right = 12, top = 8;
    const log = (x) => (spec.log ? Math.log(x) : x);
    const X = (x) => left + ((log(x) - log(x0)) / (log(x1) - log(x0))) * (width - left - right);
    const Y = (y) => height - bottom - ((y - y0) / (y1 - y0)) * (height - bottom - top);
    const root = svg(host, "svg", { viewBox: `0 0 ${width} ${height}`, class: "chart", style: `width:${width / 16}rem` });
    for (const t of yticks) {
      svg(root, "line", { x1: left, x2: width - right, y1: Y(t), y2: Y(t), class: "gridline" });
      svg(root, "text", { x: left - 6, y: Y(t) + 4, "text-anchor": "end" }, brief(t));
    }
    const known = series[0].points.map((p) => p[0]);
    const xticks = spec.log ? known.filter((_, k) => k % Math.ceil(known.length / 5) === 0) : ticks(x0, x1, spec.title ? 5 : 6);
    for (const t of xticks) svg(root, "text", { x: X(t), y: height - bottom + 16, "text-anchor": "middle" }, brief(t));
    if (y0 < 0 && y1 > 0) svg(root, "line", { x1: left, x2: width - right, y1: Y(0), y2: Y(0), class: "zero" });
    svg(root, "line", { x1: left, x2: width - right, y1: height - bottom, y2: height - bottom, class: "axis" });
    if (!spec.title) svg(root, "text", { x: (left + width - right) / 2, y: height - 8, "text-anchor": "middle", class: "label" }, shortened([spec.x], 54)[0]);
    if (spec.y) svg(root, "text", { transform: `translate(12 ${(height - bottom + top) / 2}) rotate(-90)`, "text-anchor": "middle", class: "label" }, shortened([spec.y], 40)[0]);
    if (spec.diagonal) svg(root, "line", { x1: X(0), y1: Y(0), x2: X(1), y2: Y(1), class: "dotted" });
    series.forEach((one, k) => {
      const color = COLORS[k % 6];
      if (one.band) {
        const up = one.points.map((p, j) => `${X(p[0])},${Y(one.band[j][1])}`);
        const down = one.points.map((p, j) => `${X(p[0])},${Y(one.band[j][0])}`).reverse();
        svg(root, "polygon", { points: up.concat(down).join(" "), fill: color, opacity: 0.2 });
      }
      let path = one.points.map((p) => `${X(p[0])},${Y(p[1])}`);
      if (one.steps) {
        path = one.points.flatMap(([, y], j) => [`${X(one.steps[j])},${Y(y)}`, `${X(one.steps[j + 1])},${Y(y)}`]);
        const base = [`${X(x1)},${Y(y0)}`, `${X(x0)},${Y(y0)}`];
        svg(root, "polygon", { points: path.concat(base).join(" "), fill: color, opacity: 0.22 });
      }
      svg(root, "polyline", { points: path.join(" "), fill: "none", stroke: color, "stroke-width": 2, "stroke-linejoin": "round" });
      const most = one.sizes ? Math.max(...one.sizes) : 1;
      if (one.dots || one.sizes) one.points.forEach((p, j) => svg(root, "circle", { cx: X(p[0]), cy: Y(p[1]), r: one.sizes ? 2.5 + 5 * Math.sqrt(one.sizes[j] / most) : 3.2, fill: color }));
      if (one.dot) svg(root, "circle", { cx: X(one.dot[0]), cy: Y(one.dot[1]), r: 5, fill: color, stroke: "var(--paper)", "stroke-width": 1.5 });
    });
    if (spec.vline !== undefined) svg(root, "line", { x1: X(spec.vline), x2: X(spec.vline), y1: top, y2: height - bottom, class: "dashed" });
    const cross = svg(root, "line", { y1: top, y2: height - bottom, class: "cross", visibility: "hidden" });
    const dots = series.map((_, k) => svg(root, "circle", { r: 4, fill: COLORS[k % 6], stroke: "var(--paper)", "stroke-width": 1.5, visibility: "hidden" }));
    root.addEventListener("pointermove", (event) => {
      const box = root.getBoundingClientRect();
      const at = ((event.clientX - box.left) / box.width) * width;
      const nearest = series.map((one) => one.points.reduce((best, p) => (Math.abs(X(p[0]) - at) < Math.abs(X(best[0]) - at) ? p : best)));
      cross.setAttribute("x1", X(nearest[0][0])); cross.setAttribute("x2", X(nearest[0][0]));
      [cross, ...dots].forEach((node) => node.setAttribute("visibility", "visible"));
      nearest.forEach((p, k) => { dots[k].setAttribute("cx", X(p[0])); dots[k].setAttribute("cy", Y(p[1])); });
      const values = nearest.map((p, k) => (series.length > 1 ? series[k].name + " " : "") + brief(p[1]));
      say(`${spec.x} ${brief(nearest[0][0])}: ${values.join(", ")}`);
    });
    root.addEventListener("pointerleave", () => { [cross, ...dots].forEach((node) => node.setAttribute("visibility", "hidden")); say(""); });
  }

  function bars(host, spec, say) {
    const all = spec.values.concat((spec.ranges || []).flat(), 0);
    const [low, high] = spec.ylim || [Math.min(...all), Math.max(...all)], length = high - low || 1;
    const place = (value) => `${(100 * (value - low)) / length}%`;
    const list = el("div", { class: spec.title ? "bars narrow" : "bars" });
    spec.names.forEach((name, k) => {
      const value = spec.values[k];
      const track = el("div", { class: "track" },
        el("span", { class: "bar" + (value < 0 ? " against" : ""), style: `left:${place(Math.min(0, value))};width:${(100 * Math.abs(value)) / length}%` }),
        el("span", { class: "origin", style: `left:${place(0)}` }));
      if (spec.ranges) track.append(el("span", { class: "range", style: `left:${place(spec.ranges[k][0])};width:${(100 * (spec.ranges[k][1] - spec.ranges[k][0])) / length}%` }));
      const row = el("div", { class: "barrow", onpointerenter: () => say(`${name}: ${brief(value)}` + (spec.ranges ? ` (${brief(spec.ranges[k][0])} to ${brief(spec.ranges[k][1])})` : "")), onpointerleave: () => say("") },
        el("span", { class: "name" }, name), track, el("span", { class: "value" }, low < 0 ? signed(value, 2) : fixed(value, 2)));
      list.append(row);
    });
    host.append(list);
  }

  function dots(host, spec, say) {
    const log = (value) => (spec.log ? Math.log(value) : value);
    const all = spec.values.concat((spec.ranges || []).flat()).map(log);
    const low = Math.min(...all), length = Math.max(...all) - low || 1;
    const place = (value) => 2 + (96 * (log(value) - low)) / length;
    const list = el("div", { class: "bars" });
    spec.names.forEach((name, k) => {
      const mark = spec.marks[k], shown = spec.shown ? spec.shown[k] : fixed(spec.values[k], 3), range = spec.ranges && spec.ranges[k];
      const track = el("div", { class: "track lined" });
      if (!spec.log && low < 0 && low + length > 0) track.append(el("span", { class: "origin", style: `left:${place(0)}%` }));
      if (range) track.append(el("span", { class: `range ${mark}`, style: `left:${place(range[0])}%;width:${place(range[1]) - place(range[0])}%` }));
      track.append(el("span", { class: `dot ${mark}`, style: `left:${place(spec.values[k])}%` }));
      list.append(el("div", { class: "barrow", onpointerenter: () => say(`${name}: ${shown}` + (range ? ` (${brief(range[0])} to ${brief(range[1])})` : "")), onpointerleave: () => say("") },
        el("span", { class: "name" }, name), track, el("span", { class: "value" }, shown)));
    });
    host.append(list);
  }

  function heat(host, spec, say) {
    const rows = shortened(spec.rows, 18), columns = shortened(spec.columns, 18);
    const letters = (texts) => 6.4 * Math.max(...texts.map((text) => text.length));
    const left = letters(rows) + (spec.x ? 30 : 10), size = spec.show ? 56 : spec.columns.length > 12 ? 22 : 30;
    const tall = letters(columns) > size - 6;
    const bottom = (tall ? 0.72 * letters(columns) + 14 : 18) + (spec.x ? 20 : 0);
    const plot = Math.max(size * columns.length, 150), cell = plot / columns.length, line = Math.min(cell, spec.show ? 44 : 30);
    const width = left + plot + (tall ? 8 : 4), height = line * rows.length + bottom + 4;
    const most = Math.max(...(spec.ylim || spec.values.flat()).map(Math.abs)) || 1;
    const root = svg(host, "svg", { viewBox: `0 0 ${width} ${height}`, class: "chart", style: `width:${width / 16}rem` });
    rows.forEach((row, i) => {
      svg(root, "text", { x: left - 6, y: line * (i + 0.5) + 4, "text-anchor": "end" }, row);
      columns.forEach((_, j) => {
        const value = spec.values[i][j];
        const rect = svg(root, "rect", { x: left + cell * j, y: line * i, width: cell - 1, height: line - 1, class: "cell", fill: value < 0 ? "var(--s2)" : "var(--s1)", "fill-opacity": 0.06 + (0.9 * Math.abs(value)) / most });
        if (spec.show) svg(root, "text", { x: left + cell * (j + 0.5), y: line * (i + 0.5) + 4, "text-anchor": "middle", class: "inside" + (Math.abs(value) > 0.55 * most ? " strong" : "") }, brief(Math.round(value)));
        rect.addEventListener("pointerenter", () => say([`${spec.y} ${spec.rows[i]}`, `${spec.x || ""} ${spec.columns[j]}`.trim()].join(", ") + `: ${brief(value)} ${spec.unit || ""}`));
        rect.addEventListener("pointerleave", () => say(""));
      });
    });
    columns.forEach((column, j) => {
      const x = left + cell * (j + 0.5), y = line * rows.length + 14;
      svg(root, "text", tall ? { transform: `translate(${x + 4} ${y - 2}) rotate(-45)`, "text-anchor": "end" } : { x, y, "text-anchor": "middle" }, column);
    });
    if (spec.x) {
      svg(root, "text", { x: left + plot / 2, y: height - 4, "text-anchor": "middle", class: "label" }, shortened([spec.x], 34)[0]);
      svg(root, "text", { transform: `translate(12 ${(line * rows.length) / 2}) rotate(-90)`, "text-anchor": "middle", class: "label" }, shortened([spec.y], Math.max(8, Math.floor((line * rows.length) / 7)))[0]);
    }
    if (spec.unit && spec.title) host.append(el("p", { class: "chartunit" }, spec.unit));
  }

  const DRAW = { lines, bars, dots, heat };
  document.querySelectorAll("[data-charts]").forEach((host) => {
    const readout = host.parentElement.querySelector(".readout");
    const say = (text) => { readout.textContent = text; };
    for (const spec of data[host.dataset.charts]) {
      const panel = el("div", { class: "panel" });
      host.append(panel);
      if (spec.title) panel.append(el("p", { class: "charttitle" }, spec.title));
      DRAW[spec.type](panel, spec, say);
    }
  });

  /* ------------------------------------------------------------- threshold */
  function ofHundred(part, whole) {
    if (part === 0) return "none";
    if (part === whole) return "all";
    const percent = Math.floor((100 * part) / whole + 0.5);
    return percent === 0 ? "fewer than 1 of 100" : percent === 100 ? "more than 99 of 100" : `${percent} of 100`;
  }
  function copyButton(text) {
    const button = el("button", { type: "button", class: "copyoption" }, "Copy");
    button.addEventListener("click", () => {
      const done = (ok) => { button.textContent = ok ? "Copied" : "Select and copy"; setTimeout(() => { button.textContent = "Copy"; }, 2000); };
      if (navigator.clipboard) navigator.clipboard.writeText(text()).then(() => done(true), () => done(false));
      else done(false);
    });
    return button;
  }

  function thresholdWidget(host, t) {
    const negatives = t.rows - t.positives;
    let start = t.own.at === null ? 0 : Math.max(0, Math.min(t.at.length - 1, Math.round(t.own.at * 200) - 1));
    if (t.own.at === null) t.called.forEach((called, k) => { if (Math.abs(called - t.own.called) < Math.abs(t.called[start] - t.own.called)) start = k; });
    const slider = el("input", { type: "range", id: "threshold-slider", min: 1, max: t.at.length, step: 1, value: start + 1, "aria-describedby": "threshold-sentence" });
    const shown = el("output", { class: "big", for: "threshold-slider" });
    const sentence = el("p", { class: "sentence", id: "threshold-sentence", "aria-live": "polite" });
    const cells = {};
    const facts = el("dl", { class: "numbersgrid" });
    for (const [key, title] of [["recall", `found (recall) of ${t.positive}`], ["precision", "right among alarms (precision)"], ["alarms", "alarms"], ["false", "false alarms"], ["missed", `missed ${t.positive}`], ["rate", `false alarms per 100 of ${t.negative}`], ["cost", "cost per row"]]) {
      cells[key] = el("dd", { "data-value-of": key });
      facts.append(el("div", {}, el("dt", {}, title), cells[key]));
    }
    const price = (id, value) => el("input", { type: "number", id, min: 0, step: "any", value, inputmode: "decimal" });
    const falsePrice = price("cost-false", t.costs[0]), missedPrice = price("cost-missed", t.costs[1]);
    const cheapest = el("button", { type: "button", class: "cheapest" });
    const option = el("code", {});
    const chart = el("div", { class: "panel" });
    const width = 440, height = 170, left = 34, bottom = 30;
    const root = svg(chart, "svg", { viewBox: `0 0 ${width} ${height}`, class: "chart", style: `width:${width / 16}rem`, "aria-hidden": "true" });
    const X = (x) => left + x * (width - left - 10), Y = (y) => height - bottom - y * (height - bottom - 8);
    for (const y of [0, 0.5, 1]) {
      svg(root, "line", { x1: left, x2: width - 10, y1: Y(y), y2: Y(y), class: "gridline" });
      svg(root, "text", { x: left - 6, y: Y(y) + 4, "text-anchor": "end" }, String(y));
    }
    for (const x of [0, 0.25, 0.5, 0.75, 1]) svg(root, "text", { x: X(x), y: height - 12, "text-anchor": "middle" }, String(x));
    const curve = (values, color) => svg(root, "polyline", { points: values.map((v, k) => (Number.isFinite(v) ? `${X(t.at[k])},${Y(v)}` : "")).filter(Boolean).join(" "), fill: "none", stroke: color, "stroke-width": 2 });
    curve(t.found.map((f) => f / t.positives), COLORS[0]);
    curve(t.found.map((f, k) => f / t.called[k]), COLORS[1]);
    const costLine = svg(root, "polyline", { fill: "none", stroke: COLORS[2], "stroke-width": 1.6, "stroke-dasharray": "5 3" });
    const marker = svg(root, "line", { y1: 8, y2: height - bottom, class: "dashed" });
    const names = el("div", { class: "legend" });
    [["found", 0], ["right among alarms", 1], ["cost per row, of its largest", 2]].forEach(([name, k]) => names.append(el("span", {}, el("i", { style: `background:${COLORS[k]}` }), name)));
    function costs() {
      const a = Math.max(0, Number(falsePrice.value) || 0), b = Math.max(0, Number(missedPrice.value) || 0);
      return t.at.map((_, k) => (a * (t.called[k] - t.found[k]) + b * (t.positives - t.found[k])) / t.rows);
    }
    function update() {
      const k = Number(slider.value) - 1, cost = costs(), false_ = t.called[k] - t.found[k];
      const best = cost.indexOf(Math.min(...cost)), most = Math.max(...cost) || 1;
      shown.textContent = t.at[k].toFixed(3);
      sentence.textContent = `Finds ${ofHundred(t.found[k], t.positives)} of class ${t.positive}; ` + (t.called[k] ? `${ofHundred(false_, t.called[k])} of the alarms (rows called ${t.positive}) are false.` : "it raises no alarm.");
      cells.recall.textContent = `${fixed((100 * t.found[k]) / t.positives, 1)} %`;
      cells.precision.textContent = t.called[k] ? `${fixed((100 * t.found[k]) / t.called[k], 1)} %` : "–";
      cells.alarms.textContent = t.called[k];
      cells.false.textContent = false_;
      cells.missed.textContent = t.positives - t.found[k];
      cells.rate.textContent = fixed((100 * false_) / negatives, 1);
      cells.cost.textContent = brief(cost[k]);
      cheapest.textContent = `Cheapest: ${t.at[best].toFixed(3)}, ${brief(cost[best])} per row`;
      cheapest.dataset.at = best + 1;
      option.textContent = `--threshold ${t.at[k]}${t.option}`;
      marker.setAttribute("x1", X(t.at[k])); marker.setAttribute("x2", X(t.at[k]));
      costLine.setAttribute("points", cost.map((c, j) => `${X(t.at[j])},${Y(c / most)}`).join(" "));
    }
    cheapest.addEventListener("click", () => { slider.value = cheapest.dataset.at; update(); });
    [slider, falsePrice, missedPrice].forEach((input) => input.addEventListener("input", update));
    host.append(
      el("div", { class: "control" }, el("label", { for: "threshold-slider" }, `Called ${t.positive} from probability`), shown, slider),
      sentence,
      el("div", { class: "twocolumns" },
        el("div", {}, facts,
          el("div", { class: "prices" },
            el("label", {}, "a false alarm costs ", falsePrice), el("label", {}, `a missed ${t.positive} costs `, missedPrice), cheapest)),
        el("div", {}, names, chart)),
      el("p", { class: "option" }, "Option of lincent fit and predict: ", option, " ", copyButton(() => option.textContent)));
    update();
  }

  /* ------------------------------------------- the model: a list of operations */
  /* One constant for all columns is a number, and null is no bound. */
  const single = (value) => (Array.isArray(value) ? value : [value]);
  const at = (values, k) => (values.length === 1 ? values[0] : values[k]);
  function binary(x, y, f) {
    const result = new Float64Array(Math.max(x.length, y.length));
    for (let k = 0; k < result.length; k++) result[k] = f(at(x, k), at(y, k));
    return result;
  }
  const unary = (f) => (x) => Float64Array.from(x, f);
  function timesMatrix(x, matrix) {
    const result = new Float64Array(matrix[0].length);
    matrix.forEach((row, i) => { for (let j = 0; j < row.length; j++) result[j] += x[i] * row[j]; });
    return result;
  }
  const OPS = {
    add: (x, y) => binary(x, y, (a, b) => a + b),
    mul: (x, y) => binary(x, y, (a, b) => a * b),
    exp: unary(Math.exp), abs: unary(Math.abs),
    missing: unary((v) => (Number.isNaN(v) ? 1 : 0)),
    positive: unary((v) => (v > 0 ? 1 : 0)),
    concat: (...parts) => Float64Array.from(parts.flatMap((part) => Array.from(part))),
    take: (x, columns) => columns.map((k) => x[k]),
    affine: (x, [matrix, constant]) => binary(timesMatrix(x, matrix), single(constant), (a, b) => a + b),
    scale: (x, [factor, constant]) => binary(binary(x, single(factor), (a, b) => a * b), single(constant), (a, b) => a + b),
    clip: (x, [low, high]) => binary(binary(x, single(low), (v, bound) => (bound !== null && v < bound ? bound : v)), single(high), (v, bound) => (bound !== null && v > bound ? bound : v)),
    power: (x, degree) => Float64Array.from(x, (v) => v ** degree),
    fill: (x, values) => binary(x, single(values), (v, filler) => (Number.isNaN(v) ? filler : v)),
    equal: (x, [values, tolerance]) => binary(binary(x, single(values), (a, b) => Math.abs(a - b)), single(tolerance), (a, near) => (a < near ? 1 : 0)),
    one_of: (text, [values, missing]) => values.map((value) => (value === (text === null ? missing : text) ? 1 : 0)),
    softmax: (x) => {
      const most = Math.max(...x), parts = Array.from(x, (v) => Math.exp(v - most)), total = parts.reduce((a, b) => a + b);
      return parts.map((part) => part / total);
    },
    distances: (x, [points, norm]) => points.map((point) => point.reduce((sum, c, j) => sum + (norm === "l1" ? Math.abs(x[j] - c) : (x[j] - c) ** 2), 0)),
    trees: (x, [values, roots, feature, threshold, left, right]) => {
      const result = new Float64Array(values[0].length);
      for (let k of roots) {
        while (left[k] !== k) k = x[feature[k]] <= threshold[k] ? left[k] : right[k];
        values[k].forEach((value, j) => { result[j] += value; });
      }
      return result;
    },
    shapley: (...parts) => {
      const [means, coef, nodes, weights] = parts.pop(), outputs = coef[0].length;
      const result = new Float64Array(parts.length * outputs);
      coef.forEach((own, t) => addGame(result, own, parts.map((part, j) => [j, part[t], means[j][t]]), nodes, weights));
      return result;
    },
    tree_shapley: (x, [leaves, bounds, nodes, weights, size]) => {
      const result = new Float64Array(size);
      for (const [own, columns] of leaves) {
        addGame(result, own, columns.map((entry) => {
          let inside = 1;
          for (let k = 2; k < entry.length; k += 3) {
            const value = x[entry[k]], low = entry[k + 1], high = entry[k + 2];
            if ((low >= 0 && value <= bounds[low]) || (high >= 0 && value > bounds[high])) inside = 0;
          }
          return [entry[0], inside, entry[1]];
        }), nodes, weights);
      }
      return result;
    },
  };
  /* Add the Shapley values of a product of factors (column, value, mean): see expression.product_game. */
  function addGame(result, outputs, factors, nodes, weights) {
    const n = factors.length, before = new Float64Array(n + 1), after = new Float64Array(n + 1);
    nodes.forEach((u, q) => {
      before[0] = after[n] = 1;
      for (let j = 0; j < n; j++) before[j + 1] = before[j] * (u * factors[j][1] + (1 - u) * factors[j][2]);
      for (let j = n - 1; j >= 0; j--) after[j] = after[j + 1] * (u * factors[j][1] + (1 - u) * factors[j][2]);
      for (let j = 0; j < n; j++) {
        const value = weights[q] * (factors[j][1] - factors[j][2]) * before[j] * after[j + 1];
        for (let k = 0; k < outputs.length; k++) result[factors[j][0] * outputs.length + k] += value * outputs[k];
      }
    });
  }
  function compute(model, inputs) {
    const values = [];
    for (const [op, args, constants] of model.nodes) {
      if (op === "input") values.push([inputs[constants] === null ? NaN : inputs[constants]]);
      else if (op === "text") values.push(inputs[constants]);
      else values.push(OPS[op](...args.map((k) => values[k]), ...(constants === null ? [] : [constants])));
    }
    const output = (name) => (model[name] === null ? null : Array.from(values[model[name]]));
    return { score: output("score"), decision: output("decision"), probability: output("probability"), contribution: output("contribution") };
  }
  function predicted(model, result) {
    if (model.classes.length > 2) return result.score.indexOf(Math.max(...result.score));
    return result.decision[0] > 0 ? 1 : 0;
  }

  /* ---------------------------------------------------------------- what if */
  function whatIfWidget(host, model) {
    const two = model.classes.length === 2;
    const typical = Object.fromEntries(model.inputs.map((input) => [input.name, input.typical]));
    const values = {}, fields = {};
    const answer = el("p", { class: "sentence", "aria-live": "polite" });
    const probabilities = el("div", { class: "bars", role: "img", "aria-label": "Probabilities of the classes" });
    const reasons = el("div", { class: "bars", role: "img", "aria-label": "What the columns add to the score" });
    const toward = el("select", { id: "what-if-class" }, ...model.classes.map((name, k) => el("option", { value: k }, name)));
    let followed = true;
    function row(name, share, value, extra) {
      return el("div", { class: "barrow" }, el("span", { class: "name" }, name), share, el("span", { class: "value", ...extra }, value));
    }
    function update() {
      const result = compute(model, values), k = predicted(model, result);
      if (followed && !two) toward.value = k;
      answer.textContent = `The model says ${model.classes[k]}` + (result.probability ? `, with a probability of ${fixed(result.probability[k], 3)}.` : ".");
      probabilities.replaceChildren(...(result.probability || []).map((p, j) => row(model.classes[j],
        el("div", { class: "track" }, el("span", { class: "bar", style: `left:0;width:${100 * p}%` })), fixed(p, 3), { "data-probability": j })));
      if (!model.names.length) return;
      const outputs = model.base.length, c = two ? 0 : Number(toward.value);
      const parts = model.names.map((name, j) => [name, result.contribution[j * outputs + c]]);
      parts.sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]));
      const shown = parts.slice(0, 12), rest = parts.slice(12).reduce((sum, part) => sum + part[1], 0);
      if (parts.length > 12) shown.push([`${parts.length - 12} others`, rest]);
      const most = Math.max(...shown.map((part) => Math.abs(part[1]))) || 1;
      const bar = (value) => el("div", { class: "track" },
        el("span", { class: "bar" + (value < 0 ? " against" : ""), style: `left:${value < 0 ? 50 - (50 * -value) / most : 50}%;width:${(50 * Math.abs(value)) / most}%` }),
        el("span", { class: "origin", style: "left:50%" }));
      reasons.replaceChildren(...shown.map(([name, value]) => row(name, bar(value), signed(value, 3), { "data-contribution": name })),
        row("average row", el("div", { class: "track" }), signed(model.base[c], 3), { "data-base": true }),
        row("score", el("div", { class: "track" }), signed(result.score[c], 3), { "data-score": true }));
    }
    function field(input) {
      const id = `what-if-${model.inputs.indexOf(input)}`;
      const label = el("label", { for: id }, input.name);
      if (input.kind === "number") {
        const step = input.whole ? 1 : Number((10 ** Math.floor(Math.log10((input.high - input.low) / 200 || 0.01))).toPrecision(1));
        const exact = el("input", { type: "number", id, step: "any", placeholder: "missing", "data-input": input.name });
        const slider = el("input", { type: "range", min: input.low, max: input.high, step, "aria-label": `${input.name}, slider` });
        exact.addEventListener("input", () => { values[input.name] = exact.value === "" ? null : Number(exact.value); slider.value = exact.value; update(); });
        slider.addEventListener("input", () => { values[input.name] = Number(slider.value); exact.value = slider.value; update(); });
        fields[input.name] = (value) => {
          exact.value = value === null ? "" : value;
          if (value !== null) { slider.min = Math.min(input.low, value); slider.max = Math.max(input.high, value); slider.step = "any"; slider.value = value; slider.step = step; }
        };
        return el("div", { class: "field" }, label, exact, slider);
      }
      const choices = input.kind === "flag" ? [["yes", 1], ["no", 0]] : input.values.map((value) => [value, value]);
      const select = el("select", { id, "data-input": input.name }, ...choices.map(([name], k) => el("option", { value: k }, name)), el("option", { value: choices.length }, "missing"));
      select.addEventListener("input", () => { values[input.name] = select.value < choices.length ? choices[select.value][1] : null; update(); });
      fields[input.name] = (value) => {
        const k = choices.findIndex((choice) => choice[1] === value);
        select.value = k < 0 ? choices.length : k;
      };
      return el("div", { class: "field choice" }, label, select);
    }
    function start(given) {
      followed = true;
      for (const input of model.inputs) {
        const value = given[input.name] === undefined ? input.typical : given[input.name];
        values[input.name] = value;
        fields[input.name](value);
      }
      update();
    }
    const chooser = el("select", { id: "what-if-row" }, el("option", { value: -1 }, "a typical row"),
      ...model.rows.map((one, k) => el("option", { value: k }, `row ${one.row} (${one.label})`)));
    const restart = () => start(Number(chooser.value) < 0 ? typical : model.rows[Number(chooser.value)].inputs);
    chooser.addEventListener("input", restart);
    toward.addEventListener("input", () => { followed = false; update(); });
    const form = el("form", { class: "fields" }, ...model.inputs.slice(0, 12).map(field));
    form.addEventListener("submit", (event) => event.preventDefault());
    const more = model.inputs.slice(12);
    const hidden = more.length ? el("details", {}, el("summary", {}, `${more.length} more columns`), el("form", { class: "fields" }, ...more.map(field))) : null;
    const title = two ? el("p", { class: "charttitle" }, `What the columns add: right for ${model.classes[1]}, left for ${model.classes[0]}`)
      : el("p", { class: "charttitle" }, el("label", { for: "what-if-class" }, "What the columns add to the score of "), toward);
    host.append(
      el("div", { class: "control" }, el("label", { for: "what-if-row" }, "Start from"), chooser, el("button", { type: "button", onclick: restart }, "Reset")),
      el("div", { class: "twocolumns" }, el("div", {}, form, hidden),
        el("div", { class: "result" }, answer, probabilities, ...(model.names.length ? [title, reasons] : []))));
    start(typical);
  }

  const WIDGETS = { threshold: thresholdWidget, "what-if": whatIfWidget };
  document.querySelectorAll("[data-widget]").forEach((host) => {
    host.replaceChildren();
    WIDGETS[host.dataset.widget](host, data[host.dataset.widget]);
  });
})();
