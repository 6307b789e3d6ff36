/* Five linear rules for two columns, small enough to solve at every movement of the hand.
 *
 * LCC and FQCC are exact: their programs are piecewise linear in two unknowns, so an optimum lies
 * where two of the lines meet on which a piece ends, and a walk from such a point to a better one
 * ends at the best. A point is optimal if the value rises along every line through it.
 */
(function (root) {
  "use strict";

  const TOLERANCE = 1e-10;
  const dot = (a, b) => a[0] * b[0] + a[1] * b[1];
  const plus = (a, b, t) => [a[0] + t * b[0], a[1] + t * b[1]];
  const norm = (a) => Math.hypot(a[0], a[1]);

  /* The class centers, their difference d, the midpoint l, and the signed rows y (x - l). */
  function geometry(X, y) {
    const sums = [[0, 0], [0, 0]], counts = [0, 0];
    X.forEach((x, i) => {
      const k = y[i] > 0 ? 1 : 0;
      counts[k] += 1;
      sums[k] = plus(sums[k], x, 1);
    });
    const centers = sums.map((s, k) => [s[0] / counts[k], s[1] / counts[k]]);
    const d = plus(centers[1], centers[0], -1);
    const middle = [(centers[0][0] + centers[1][0]) / 2, (centers[0][1] + centers[1][1]) / 2];
    const rows = X.map((x, i) => plus([0, 0], plus(x, middle, -1), y[i]));
    return { centers, d, middle, rows, counts };
  }

  /* minimize  g.b + C sum_i max(-s, -k_i.b)   subject to   -1 <= b <= 1,   d.b >= s
   *
   * `start` must be a corner of the feasible region; sign(d) is one. */
  function walk(g, rows, C, s, d, start) {
    const breakpoints = rows.map((k) => ({ normal: k, at: s, row: true }));
    const walls = [
      { normal: [1, 0], at: -1 }, { normal: [0, 1], at: -1 },
      { normal: [-1, 0], at: -1 }, { normal: [0, -1], at: -1 }, { normal: d, at: s },
    ];
    const lines = breakpoints.concat(walls).filter((line) => norm(line.normal) > 0);
    lines.forEach((line) => { line.slack = TOLERANCE * (norm(line.normal) + Math.abs(line.at)); });
    let point = start;
    for (let step = 0; step < 500; step += 1) {
      const move = bestMove(g, lines, C, point);
      if (!move) return point;
      point = slide(lines, C, point, move);
    }
    return point;
  }

  /* The steepest descent along a line through the point that stays within the walls. */
  function bestMove(g, lines, C, point) {
    const residual = lines.map((line) => dot(line.normal, point) - line.at);
    const here = lines.filter((line, j) => Math.abs(residual[j]) <= line.slack);
    let best = null;
    const scale = norm(g) + C * lines.reduce((sum, l) => sum + (l.row ? norm(l.normal) : 0), 0);
    for (const line of here) {
      for (const way of [1, -1]) {
        const u = [-way * line.normal[1] / norm(line.normal), way * line.normal[0] / norm(line.normal)];
        const leaves = lines.some((other, j) => !other.row && Math.abs(residual[j]) <= other.slack
          && dot(other.normal, u) < -1e-12 * norm(other.normal));
        if (leaves) continue;
        let slope = dot(g, u);
        lines.forEach((other, j) => {
          if (!other.row) return;
          const gain = -C * dot(other.normal, u);
          if (residual[j] < -other.slack) slope += gain;
          else if (residual[j] <= other.slack && gain > 1e-12 * C * norm(other.normal)) slope += gain;
        });
        if (slope < -1e-13 * scale && (!best || slope < best.slope)) best = { u, slope };
      }
    }
    return best;
  }

  /* Along the direction to the piece where the value begins to rise, or to a wall. */
  function slide(lines, C, point, move) {
    const stops = [];
    let limit = Infinity;
    for (const line of lines) {
      const speed = dot(line.normal, move.u);
      const residual = dot(line.normal, point) - line.at;
      if (Math.abs(residual) <= line.slack || Math.abs(speed) < 1e-13 * norm(line.normal)) continue;
      const t = -residual / speed;
      if (t <= 0) continue;
      if (line.row) stops.push([t, C * Math.abs(speed)]);
      else limit = Math.min(limit, t);
    }
    stops.sort((a, b) => a[0] - b[0]);
    let slope = move.slope;
    for (const [t, change] of stops) {
      if (t >= limit) break;
      slope += change;
      if (slope >= 0) return plus(point, move.u, t);
    }
    return plus(point, move.u, limit);
  }

  const corner = (d) => [d[0] < 0 ? -1 : 1, d[1] < 0 ? -1 : 1];
  const rule = (beta, at) => ({ coef: beta, intercept: -dot(beta, at) });

  function lccObjective(space, C, s, beta) {
    let value = -dot(space.d, beta);
    for (const row of space.rows) value += C * Math.max(-s, -dot(row, beta));
    return value;
  }

  function largestMargin(X, y) {
    const { d } = geometry(X, y);
    return Math.abs(d[0]) + Math.abs(d[1]);
  }

  function lcc(X, y, C, s) {
    const space = geometry(X, y);
    const beta = walk([-space.d[0], -space.d[1]], space.rows, C, s, space.d, corner(space.d));
    return { ...rule(beta, space.middle), objective: lccObjective(space, C, s, beta), space };
  }

  /* max(-s, min(q, p)) = max(-s, p) - (p - q)_+ with p = -2 z, q = d.b: the second part is made
   * linear where it is active, and the program solved again, until nothing changes. */
  function fqccFrom(space, C, s, beta) {
    const value = (b) => space.rows.reduce(
      (sum, row) => sum + C * Math.max(-s, Math.min(dot(space.d, b), -2 * dot(row, b))),
      -dot(space.d, b));
    const doubled = space.rows.map((row) => [2 * row[0], 2 * row[1]]);
    let current = value(beta);
    for (let step = 0; step < 40; step += 1) {
      let g = [-space.d[0], -space.d[1]];
      for (const row of space.rows) {
        if (-2 * dot(row, beta) > dot(space.d, beta)) g = plus(plus(g, row, 2 * C), space.d, C);
      }
      const next = walk(g, doubled, C, s, space.d, corner(space.d));
      const reached = value(next);
      if (!(reached < current - 1e-9 * (1 + Math.abs(current)))) break;
      beta = next;
      current = reached;
    }
    return { beta, value: current };
  }

  function fqcc(X, y, C, s) {
    const space = geometry(X, y);
    const longest = Math.max(Math.abs(space.d[0]), Math.abs(space.d[1]));
    const along = [space.d[0] / longest, space.d[1] / longest];
    const starts = [lcc(X, y, C, s).coef];
    if (dot(space.d, along) >= s) starts.push(along);
    const ends = starts.map((start) => fqccFrom(space, C, s, start));
    const best = ends.reduce((a, b) => (b.value < a.value ? b : a));
    return { ...rule(best.beta, space.middle), objective: best.value };
  }

  /* Linear discriminant analysis: the pooled covariance, the class sizes as priors. */
  function lda(X, y) {
    const space = geometry(X, y);
    let a = 0, b = 0, c = 0;
    X.forEach((x, i) => {
      const u = plus(x, space.centers[y[i] > 0 ? 1 : 0], -1);
      a += u[0] * u[0]; b += u[0] * u[1]; c += u[1] * u[1];
    });
    const m = X.length;
    a /= m; b /= m; c /= m;
    const ridge = 1e-9 * (a + c) + 1e-300;
    const det = (a + ridge) * (c + ridge) - b * b;
    const w = [((c + ridge) * space.d[0] - b * space.d[1]) / det, ((a + ridge) * space.d[1] - b * space.d[0]) / det];
    return { coef: w, intercept: -dot(w, space.middle) + Math.log(space.counts[1] / space.counts[0]) };
  }

  function solve3(A, b) {
    const M = A.map((row, i) => [...row, b[i]]);
    for (let k = 0; k < 3; k += 1) {
      let p = k;
      for (let i = k + 1; i < 3; i += 1) if (Math.abs(M[i][k]) > Math.abs(M[p][k])) p = i;
      [M[k], M[p]] = [M[p], M[k]];
      for (let i = 0; i < 3; i += 1) {
        if (i === k) continue;
        const f = M[i][k] / M[k][k];
        for (let j = k; j < 4; j += 1) M[i][j] -= f * M[k][j];
      }
    }
    return M.map((row, i) => row[3] / row[i]);
  }

  /* 1/2 |w|^2 + C sum_i log(1 + exp(-y (w.x + b))): Newton's method with halved steps. */
  function logistic(X, y, C) {
    const cost = (p) => X.reduce((sum, x, i) => {
      const z = -y[i] * (p[0] * x[0] + p[1] * x[1] + p[2]);
      return sum + C * (z > 30 ? z : Math.log1p(Math.exp(z)));
    }, (p[0] * p[0] + p[1] * p[1]) / 2);
    let p = [0, 0, 0];
    for (let step = 0; step < 60; step += 1) {
      const gradient = [p[0], p[1], 0], hessian = [[1, 0, 0], [0, 1, 0], [0, 0, 1e-9]];
      X.forEach((x, i) => {
        const v = [x[0], x[1], 1], z = y[i] * (p[0] * x[0] + p[1] * x[1] + p[2]);
        const q = 1 / (1 + Math.exp(z)), h = C * q * (1 - q);
        for (let j = 0; j < 3; j += 1) {
          gradient[j] -= C * q * y[i] * v[j];
          for (let k = 0; k < 3; k += 1) hessian[j][k] += h * v[j] * v[k];
        }
      });
      const move = solve3(hessian, gradient);
      let t = 1;
      const old = cost(p);
      while (t > 1e-8 && cost(p.map((v, j) => v - t * move[j])) > old) t /= 2;
      p = p.map((v, j) => v - t * move[j]);
      if (Math.max(...move.map(Math.abs)) < 1e-9) break;
    }
    return { coef: [p[0], p[1]], intercept: p[2] };
  }

  /* 1/2 |w|^2 + C sum_i (1 - y (w.x + b))_+: the dual, two multipliers at a time. */
  function svm(X, y, C) {
    const m = X.length, alpha = new Float64Array(m), gradient = new Float64Array(m).fill(-1);
    let w = [0, 0], high = 0, low = 0;
    for (let step = 0; step < 40000; step += 1) {
      let i = -1, j = -1;
      high = -Infinity; low = Infinity;
      for (let k = 0; k < m; k += 1) {
        const up = y[k] > 0 ? alpha[k] < C : alpha[k] > 0, down = y[k] > 0 ? alpha[k] > 0 : alpha[k] < C;
        const v = -y[k] * gradient[k];
        if (up && v > high) { high = v; i = k; }
        if (down && v < low) { low = v; j = k; }
      }
      if (high - low < 1e-5 || i < 0 || j < 0) break;
      const apart = plus(X[i], X[j], -1);
      let t = (high - low) / Math.max(dot(apart, apart), 1e-12);
      t = Math.min(t, y[i] > 0 ? C - alpha[i] : alpha[i], y[j] > 0 ? alpha[j] : C - alpha[j]);
      alpha[i] += y[i] * t;
      alpha[j] -= y[j] * t;
      w = plus(w, apart, t);
      for (let k = 0; k < m; k += 1) gradient[k] += y[k] * t * dot(X[k], apart);
    }
    return { coef: w, intercept: (high + low) / 2 };
  }

  root.LincentSolver = { lcc, fqcc, lda, logistic, svm, largestMargin, geometry };
})(typeof window === "undefined" ? globalThis : window);
