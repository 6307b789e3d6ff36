/* A pasted table, fitted in the browser: RegularizedLCC on numbers, categories and missing values.
 *
 *   minimize  |w|^2 / 2 + sum_i c_i phi(y_i (w.x_i + b)),   phi the hinge averaged over [-1, 3]
 *
 * by Newton's method; costs c_i give both classes the same total. Scores are out of fold.
 */
(function (root) {
  "use strict";

  const LOW = -1, HIGH = 3, MOST_ROWS = 2000, MOST_FEATURES = 120, MOST_LEVELS = 12, FOLDS = 5;
  const MISSING = new Set(["", "na", "n/a", "nan", "null", "none", "?", "-"]);
  const mean = (v) => v.reduce((sum, x) => sum + x, 0) / Math.max(1, v.length);
  const median = (v) => {
    const sorted = [...v].sort((a, b) => a - b), half = sorted.length >> 1;
    return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
  };

  /* Text to a header and rows of cells: quotes, and the separator that the first line has most. */
  function parse(text) {
    text = text.replace(/^\uFEFF/, "").trimEnd();
    const first = text.split(/\r?\n/, 1)[0];
    const separator = [",", ";", "\t", "|"].sort((a, b) => first.split(b).length - first.split(a).length)[0];
    const rows = [[]];
    let cell = "", quoted = false;
    for (let i = 0; i < text.length; i += 1) {
      const c = text[i];
      if (quoted) {
        if (c === '"' && text[i + 1] === '"') { cell += '"'; i += 1; } else if (c === '"') quoted = false;
        else cell += c;
      } else if (c === '"' && cell === "") quoted = true;
      else if (c === separator) { rows[rows.length - 1].push(cell); cell = ""; } else if (c === "\n") {
        rows[rows.length - 1].push(cell.replace(/\r$/, ""));
        rows.push([]);
        cell = "";
      } else cell += c;
    }
    rows[rows.length - 1].push(cell);
    const header = rows.shift().map((name) => name.trim());
    const body = rows.filter((row) => row.some((c) => c.trim() !== ""));
    const uneven = body.findIndex((row) => row.length !== header.length);
    if (header.length < 2 || body.length < 20) throw new Error("Paste a table with a header line, two columns or more and 20 rows or more.");
    if (uneven >= 0) throw new Error(`Row ${uneven + 2} has ${body[uneven].length} cells, the header has ${header.length}.`);
    const decimal = separator !== "," && body.every((row) => row.every((c) => !/^-?\d+\.\d+$/.test(c.trim())));
    return { header, rows: body.slice(0, MOST_ROWS).map((row) => row.map((c) => c.trim())), cut: body.length > MOST_ROWS, decimal };
  }

  const isMissing = (cell) => MISSING.has(cell.toLowerCase());
  const number = (cell, table) => Number(table.decimal ? cell.replace(",", ".") : cell);

  /* What each column is; those that cannot help are left out, with the reason. */
  function infer(table, target) {
    return table.header.map((name, j) => {
      const cells = table.rows.map((row) => row[j]), present = cells.filter((c) => !isMissing(c));
      const levels = new Set(present), column = { name, j, levels: levels.size };
      const numeric = present.length > 0 && present.every((c) => c !== "" && Number.isFinite(number(c, table)));
      if (j === target) return { ...column, kind: "target" };
      if (levels.size <= 1) return { ...column, kind: "out", why: "one value only" };
      if (numeric) {
        const whole = levels.size === table.rows.length && present.every((c) => Number.isInteger(number(c, table)));
        const steady = whole && cells.every((c, i) => i === 0 || number(c, table) > number(cells[i - 1], table));
        return steady ? { ...column, kind: "out", why: "an identifier" } : { ...column, kind: "number" };
      }
      if (levels.size > 0.5 * table.rows.length) return { ...column, kind: "out", why: "nearly every row has its own text" };
      return { ...column, kind: "category" };
    });
  }

  /* Learn medians, scales and categories on some rows; return names and a function row -> features. */
  function encoder(table, columns, rows) {
    const parts = [];
    for (const column of columns) {
      const cells = rows.map((i) => table.rows[i][column.j]);
      if (column.kind === "number") {
        const present = cells.filter((c) => !isMissing(c)).map((c) => number(c, table));
        if (!present.length) continue;
        const fill = median(present), filled = cells.map((c) => (isMissing(c) ? fill : number(c, table)));
        const center = mean(filled), spread = Math.sqrt(mean(filled.map((v) => (v - center) ** 2))) || 1;
        parts.push({ column, text: "", value: (c) => ((isMissing(c) ? fill : number(c, table)) - center) / spread });
        if (cells.length - present.length >= 0.01 * cells.length && present.length < cells.length) parts.push({ column, text: "missing", value: (c) => Number(isMissing(c)) });
      } else if (column.kind === "category") {
        const counts = new Map();
        cells.forEach((c) => counts.set(isMissing(c) ? "(missing)" : c, (counts.get(isMissing(c) ? "(missing)" : c) || 0) + 1));
        const kept = [...counts.entries()].sort((a, b) => b[1] - a[1]).slice(0, MOST_LEVELS).map((entry) => entry[0]);
        for (const level of kept) parts.push({ column, text: level, value: (c) => Number((isMissing(c) ? "(missing)" : c) === level) });
      }
    }
    const used = parts.slice(0, MOST_FEATURES);
    return { parts: used, row: (i) => used.map((part) => part.value(table.rows[i][part.column.j])) };
  }

  /* Solve A x = b for a symmetric positive definite A, by Cholesky's factorization. */
  function solve(A, b) {
    const n = b.length, L = A.map((row) => row.slice());
    for (let j = 0; j < n; j += 1) {
      for (let k = 0; k < j; k += 1) for (let i = j; i < n; i += 1) L[i][j] -= L[i][k] * L[j][k];
      const pivot = Math.sqrt(Math.max(L[j][j], 1e-12));
      for (let i = j; i < n; i += 1) L[i][j] /= pivot;
    }
    const x = b.slice();
    for (let i = 0; i < n; i += 1) { for (let k = 0; k < i; k += 1) x[i] -= L[i][k] * x[k]; x[i] /= L[i][i]; }
    for (let i = n - 1; i >= 0; i -= 1) { for (let k = i + 1; k < n; k += 1) x[i] -= L[k][i] * x[k]; x[i] /= L[i][i]; }
    return x;
  }

  /* RegularizedLCC(C): coefficients, intercept and objective; y is -1 or 1. */
  function fit(X, y, C) {
    const m = X.length, n = X[0].length, rows = X.map((x) => [...x, 1]);
    const sizes = [y.filter((v) => v < 0).length, y.filter((v) => v > 0).length];
    const cost = y.map((v) => (C * m) / (2 * sizes[v > 0 ? 1 : 0]));
    const value = (w) => {
      let sum = 0;
      for (let j = 0; j < n; j += 1) sum += w[j] * w[j] / 2;
      for (let i = 0; i < m; i += 1) {
        let z = 0;
        for (let j = 0; j <= n; j += 1) z += rows[i][j] * w[j];
        z *= y[i];
        if (z < LOW) sum += cost[i] * ((LOW + HIGH) / 2 - z);
        else if (z < HIGH) sum += cost[i] * (HIGH - z) ** 2 / (2 * (HIGH - LOW));
      }
      return sum;
    };
    let w = new Array(n + 1).fill(0), here = value(w);
    for (let step = 0; step < 100; step += 1) {
      const g = w.map((v, j) => (j < n ? v : 0));
      const H = w.map((_, j) => w.map((__, k) => Number(j === k && j < n)));
      H[n][n] = 1e-9;
      for (let i = 0; i < m; i += 1) {
        const x = rows[i];
        let z = 0;
        for (let j = 0; j <= n; j += 1) z += x[j] * w[j];
        z *= y[i];
        const slope = z < LOW ? 1 : z < HIGH ? (HIGH - z) / (HIGH - LOW) : 0;
        if (slope === 0) continue;
        for (let j = 0; j <= n; j += 1) g[j] -= cost[i] * slope * y[i] * x[j];
        if (z <= LOW) continue;
        const bend = cost[i] / (HIGH - LOW);
        for (let j = 0; j <= n; j += 1) {
          const part = bend * x[j];
          if (part !== 0) for (let k = 0; k <= j; k += 1) H[j][k] += part * x[k];
        }
      }
      const move = solve(H, g), fall = move.reduce((sum, v, j) => sum + v * g[j], 0);
      if (fall <= 1e-13 * (1 + Math.abs(here))) break;
      let length = 1, next = w, there = here;
      for (; length > 1e-6; length /= 2) {
        next = w.map((v, j) => v - length * move[j]);
        there = value(next);
        if (there <= here - 0.1 * length * fall) break;
      }
      if (there >= here) break;
      w = next;
      here = there;
    }
    return { coef: w.slice(0, n), intercept: w[n], objective: here };
  }

  const score = (model, x) => x.reduce((sum, v, j) => sum + v * model.coef[j], model.intercept);

  function balancedAccuracy(scores, y) {
    const right = [0, 0], count = [0, 0];
    scores.forEach((s, i) => { const k = y[i] > 0 ? 1 : 0; count[k] += 1; right[k] += Number((s > 0) === (y[i] > 0)); });
    return (right[0] / count[0] + right[1] / count[1]) / 2;
  }

  function areaUnderCurve(scores, y) {
    const order = scores.map((_, i) => i).sort((a, b) => scores[a] - scores[b]);
    let sum = 0, positives = 0;
    for (let from = 0; from < order.length;) {
      let to = from;
      while (to < order.length && scores[order[to]] === scores[order[from]]) to += 1;
      for (let i = from; i < to; i += 1) if (y[order[i]] > 0) { sum += (from + to + 1) / 2; positives += 1; }
      from = to;
    }
    return (sum - (positives * (positives + 1)) / 2) / (positives * (y.length - positives));
  }

  /* The whole way: types, out-of-fold scores, the model of all rows, importances by column. */
  function study(table, target, positive, C = 1) {
    const rows = table.rows.map((_, i) => i).filter((i) => !isMissing(table.rows[i][target]));
    const label = (i) => (table.rows[i][target] === positive ? 1 : -1), y = rows.map(label);
    const counts = [y.filter((v) => v < 0).length, y.filter((v) => v > 0).length];
    if (Math.min(...counts) < FOLDS) throw new Error(`The class ${positive} and the rest need at least ${FOLDS} rows each; here they have ${counts[1]} and ${counts[0]}.`);
    const columns = infer(table, target), used = columns.filter((c) => c.kind === "number" || c.kind === "category");
    if (!used.length) throw new Error("No column is left to learn from.");
    const seen = { "-1": 0, 1: 0 };
    const fold = y.map((v) => { seen[v] += 1; return seen[v] % FOLDS; });
    const held = new Array(rows.length).fill(0);
    for (let k = 0; k < FOLDS; k += 1) {
      const train = rows.map((_, i) => i).filter((i) => fold[i] !== k);
      const code = encoder(table, used, train.map((i) => rows[i]));
      const model = fit(train.map((i) => code.row(rows[i])), train.map((i) => y[i]), C);
      rows.forEach((row, i) => { if (fold[i] === k) held[i] = score(model, code.row(row)); });
    }
    const code = encoder(table, used, rows), X = rows.map(code.row), model = fit(X, y, C);
    const importances = used.map((column) => {
      const mine = code.parts.map((part, j) => (part.column === column ? j : -1)).filter((j) => j >= 0);
      const parts = X.map((x) => mine.reduce((sum, j) => sum + x[j] * model.coef[j], 0)), center = mean(parts);
      return { name: column.name, kind: column.kind, weight: Math.sqrt(mean(parts.map((v) => (v - center) ** 2))), coef: column.kind === "number" ? model.coef[mine[0]] : null };
    }).sort((a, b) => b.weight - a.weight);
    return { columns, counts, y, held, model, importances, balancedAccuracy: balancedAccuracy(held, y), auc: areaUnderCurve(held, y) };
  }

  root.LincentTable = { parse, infer, encoder, fit, study, areaUnderCurve, balancedAccuracy };

  const get = (id) => root.document && root.document.getElementById(id);
  if (!get("table-text")) return;

  /* ------------------------------------------------------------------------------- the page */
  let table = null;
  const text = get("table-text"), target = get("table-target"), positive = get("table-positive");
  const element = (tag, attributes, content) => {
    const made = document.createElement(tag);
    Object.entries(attributes || {}).forEach(([name, value]) => made.setAttribute(name, value));
    if (content !== undefined) made.textContent = content;
    return made;
  };
  const options = (select, names, chosen) => {
    select.replaceChildren(...names.map((name, i) => element("option", { value: i }, name)));
    select.value = chosen;
  };
  const said = (message) => { get("table-said").textContent = message; };

  function read() {
    get("table-result").hidden = true;
    try {
      table = parse(text.value);
    } catch (error) {
      table = null;
      target.replaceChildren();
      positive.replaceChildren();
      if (text.value.trim()) said(error.message);
      return;
    }
    const few = table.header.map((_, j) => new Set(table.rows.map((row) => row[j])).size);
    const last = few.map((count, j) => (count >= 2 && count <= 20 ? j : -1)).filter((j) => j >= 0).pop();
    options(target, table.header, last === undefined ? table.header.length - 1 : last);
    said(`${table.rows.length} rows, ${table.header.length} columns${table.cut ? ` (the first ${MOST_ROWS} rows are used)` : ""}.`);
    classes();
  }

  function classes() {
    const counts = new Map();
    table.rows.forEach((row) => { const c = row[Number(target.value)]; if (!isMissing(c)) counts.set(c, (counts.get(c) || 0) + 1); });
    const names = [...counts.keys()].sort().slice(0, 50);
    const rare = names.reduce((best, name, i) => (counts.get(name) < counts.get(names[best]) ? i : best), 0);
    options(positive, names, names.length === 2 ? 1 : rare);
  }

  function bars(found) {
    const largest = found.importances[0].weight || 1;
    return found.importances.slice(0, 12).map((entry) => {
      const row = element("tr");
      const way = entry.coef === null ? "" : entry.coef > 0 ? "higher: more likely" : "higher: less likely";
      const bar = element("span", { class: "bar", style: `width:${(100 * entry.weight / largest).toFixed(0)}%` });
      const cell = element("td");
      cell.append(bar);
      row.append(element("th", { scope: "row" }, entry.name), cell, element("td", {}, way));
      return row;
    });
  }

  function histogram(found) {
    const bins = 24, low = Math.min(...found.held), high = Math.max(...found.held), step = (high - low) / bins || 1;
    const paths = [-1, 1].map((label) => {
      const counts = new Array(bins).fill(0);
      let total = 0;
      found.held.forEach((s, i) => { if (found.y[i] === label) { counts[Math.min(bins - 1, Math.floor((s - low) / step))] += 1; total += 1; } });
      return counts.map((c) => c / total);
    });
    const top = Math.max(...paths.flat());
    const svg = get("table-histogram");
    svg.replaceChildren();
    const draw = (name, attributes) => {
      const shape = document.createElementNS("http://www.w3.org/2000/svg", name);
      Object.entries(attributes).forEach(([key, value]) => shape.setAttribute(key, value));
      svg.append(shape);
    };
    paths.forEach((shares, k) => {
      const corners = shares.map((s, i) => `L${(600 * i) / bins} ${150 - (140 * s) / top}L${(600 * (i + 1)) / bins} ${150 - (140 * s) / top}`).join("");
      draw("path", { d: `M0 150${corners}L600 150Z`, class: k ? "shape orange" : "shape blue" });
    });
    const zero = (600 * (0 - low)) / (bins * step);
    draw("path", { d: `M${zero} 0V150`, class: "cut" });
  }

  function run() {
    if (!table) { said("Paste a table first."); return; }
    const name = positive.selectedOptions[0].textContent;
    try {
      const began = performance.now(), found = study(table, Number(target.value), name), took = performance.now() - began;
      const out = found.columns.filter((c) => c.kind === "out").map((c) => `${c.name} (${c.why})`);
      get("table-score").textContent = `Balanced accuracy on held-out rows ${found.balancedAccuracy.toFixed(3)} (guessing has 0.5), AUC ${found.auc.toFixed(3)}.`;
      get("table-about").textContent = `${name} (${found.counts[1]} rows) against the rest (${found.counts[0]}), ${FOLDS} folds, ${Math.ceil(took)} ms.`
        + (out.length ? ` Left out: ${out.join(", ")}.` : "");
      get("table-columns").replaceChildren(...bars(found));
      histogram(found);
      get("table-result").hidden = false;
      said("Fitted.");
    } catch (error) {
      said(error.message);
    }
  }

  function example() {
    let seed = 7;
    const random = () => { seed = (seed * 16807) % 2147483647; return seed / 2147483647; };
    const lines = ["customer,age,visits,plan,churned"];
    for (let i = 0; i < 300; i += 1) {
      const age = 20 + 50 * random(), visits = Math.floor(12 * random()), plan = random() < 0.4 ? "basic" : "premium";
      const leaves = 0.05 * (50 - age) - 0.35 * visits + (plan === "basic" ? 1.5 : 0) + 3 * (random() - 0.5) + 1 > 0;
      lines.push(`${1000 + i},${random() < 0.1 ? "" : age.toFixed(0)},${visits},${plan},${leaves ? "yes" : "no"}`);
    }
    text.value = lines.join("\n");
    read();
    run();
  }

  text.addEventListener("input", read);
  target.addEventListener("change", classes);
  get("table-fit").addEventListener("click", run);
  get("table-example").addEventListener("click", example);
})(typeof window === "undefined" ? globalThis : window);
