// Small tools of linear algebra: inner products and, for the fits, singular values and least squares without negative entries.

export const dot = (a, b, from = 0) => {
  let sum = 0;
  for (let i = from; i < a.length; i++) sum += a[i] * b[i];
  return sum;
};

/** One-sided Jacobi (Hestenes 1958), the matrix by columns: u[k] s[k] v[k], not sorted; u[k] is 0 where s[k] is. */
export function svd(columns) {
  const n = columns.length,
    u = columns.map((column) => Float64Array.from(column));
  const v = u.map((_, k) => Float64Array.from({ length: n }, (_, j) => Number(j === k)));
  const rotate = (a, b, c, s) => {
    for (let i = 0; i < a.length; i++) {
      const x = a[i];
      a[i] = c * x - s * b[i];
      b[i] = s * x + c * b[i];
    }
  };
  for (let sweep = 0, turned = true; turned && sweep < 60; sweep++) {
    turned = false;
    for (let j = 0; j < n - 1; j++) {
      for (let k = j + 1; k < n; k++) {
        const both = dot(u[j], u[k]),
          one = dot(u[j], u[j]),
          two = dot(u[k], u[k]);
        if (Math.abs(both) <= 1e-15 * Math.sqrt(one * two) || both === 0) continue;
        turned = true;
        const ratio = (two - one) / (2 * both);
        const t = Math.sign(ratio || 1) / (Math.abs(ratio) + Math.sqrt(1 + ratio * ratio)),
          c = 1 / Math.sqrt(1 + t * t);
        rotate(u[j], u[k], c, c * t);
        rotate(v[j], v[k], c, c * t);
      }
    }
  }
  const s = u.map((column) => Math.sqrt(dot(column, column)));
  u.forEach((column, k) =>
    column.forEach((_, i) => {
      column[i] = s[k] > 0 ? column[i] / s[k] : 0;
    }),
  );
  return { u, s: Float64Array.from(s), v };
}

/** min |A x - b| by Householder's reflections, A given by columns (more rows than columns). */
function leastSquares(columns, b) {
  const a = columns.map((column) => new Float64Array(column)),
    right = new Float64Array(b),
    n = a.length,
    diagonal = [];
  for (let k = 0; k < n; k++) {
    const x = a[k],
      size = Math.sqrt(dot(x, x, k)) * (x[k] > 0 ? -1 : 1);
    diagonal.push(size);
    x[k] -= size;
    const square = dot(x, x, k);
    if (square === 0) continue;
    for (let j = k + 1; j <= n; j++) {
      const other = j < n ? a[j] : right,
        factor = (2 * dot(x, other, k)) / square;
      for (let i = k; i < x.length; i++) other[i] -= factor * x[i];
    }
  }
  const out = new Float64Array(n);
  for (let k = n - 1; k >= 0; k--) {
    let sum = right[k];
    for (let j = k + 1; j < n; j++) sum -= a[j][k] * out[j];
    out[k] = diagonal[k] === 0 ? 0 : sum / diagonal[k];
  }
  return out;
}

/** min |A x - b| with x >= 0 (Lawson and Hanson 1974), A given by columns, each a Float64Array. */
export function nonNegative(columns, b) {
  const n = columns.length,
    x = new Float64Array(n),
    free = new Set();
  for (let round = 0; round < 3 * n; round++) {
    const left = Float64Array.from(b);
    for (const j of free) {
      const column = columns[j],
        times = x[j];
      for (let i = 0; i < left.length; i++) left[i] -= times * column[i];
    }
    let best = -1,
      most = 1e-13;
    for (let j = 0; j < n; j++) {
      const slope = free.has(j) ? 0 : dot(columns[j], left);
      if (slope > most) [best, most] = [j, slope];
    }
    if (best < 0 || free.size >= b.length) break;
    free.add(best);
    for (;;) {
      const set = [...free],
        solution = leastSquares(
          set.map((j) => columns[j]),
          b,
        );
      if (solution.every((value) => value > 0)) {
        x.fill(0);
        set.forEach((j, i) => {
          x[j] = solution[i];
        });
        break;
      }
      let step = 1;
      set.forEach((j, i) => {
        if (solution[i] <= 0) step = Math.min(step, x[j] / (x[j] - solution[i]));
      });
      set.forEach((j, i) => {
        x[j] += step * (solution[i] - x[j]);
        if (x[j] <= 1e-15) {
          x[j] = 0;
          free.delete(j);
        }
      });
      if (!free.size) break;
    }
  }
  return x;
}
