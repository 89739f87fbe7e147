// From a drawn weight to (gap, offset), as lab/mathematics/design.py does: a ridge whose price is the noise that is bought.
import { binomialTable, expect, gaussLegendre } from "./mathematics.js";
import { dot, svd } from "./linear.js";

const TINY = 1e-12,
  BIAS_PRICE = 10,
  ERROR_PRICE = 1e-4;
export const LARGEST = 128; // the largest N that is fitted in the page: beyond it the fit is slow, not wrong

const READY = new Map(),
  MOST_READY = 24;
const keyOf = (degree, N) => `${degree} ${N}`;

export const isDecomposed = (degree, N) => READY.has(keyOf(degree, N));

/** Keep what `decomposition` gave, in a worker perhaps; the oldest goes. */
export function keepDecomposition(degree, N, ready) {
  if (READY.size >= MOST_READY) READY.delete(READY.keys().next().value);
  READY.set(keyOf(degree, N), ready);
}

/** What a fit needs that no weight enters: points, basis, two decompositions; 0.1 s at N = 64, seconds at LARGEST. */
export function decomposition(degree, N) {
  const [x, node] = gaussLegendre(Math.max(200, 2 * N));
  const angle = x.map((value) => (Math.PI * (value + 1)) / 2);
  const p = angle.map((value) => Math.sin(value / 2) ** 2);
  const share = node.map((value, i) => value * Math.sin(angle[i]) * (p[i] * (1 - p[i])) ** 2);
  const basis = binomialTable(degree, p, 1e-300);
  const columns = Array.from({ length: degree + 1 }, () => new Float64Array(p.length)),
    noise = new Float64Array(degree + 1);
  basis.forEach(({ low, chance }, i) =>
    chance.forEach((value, k) => {
      columns[low + k][i] = Math.sqrt(share[i]) * value;
      noise[low + k] += share[i] * value;
    }),
  );
  const scaled = columns.map((column, j) => column.map((value) => value / Math.sqrt(noise[j])));
  return { p, share, basis, noise, plain: svd(columns), ridge: svd(scaled) };
}

/** Bernstein coefficients of `degree` near w(at(j)) whose polynomial is near w; the noise of steep ones has a price. */
export function fit(degree, N, at, w) {
  if (N > LARGEST)
    throw new Error(`N = ${N}: the page fits drawn weights up to N = ${LARGEST}; lab.from_weight goes on from there`);
  if (!isDecomposed(degree, N)) keepDecomposition(degree, N, decomposition(degree, N));
  const { p, share, basis, noise, plain, ridge } = READY.get(keyOf(degree, N));
  const finite = (x) => {
    const value = w(x);
    if (!Number.isFinite(value))
      throw new Error(`w(${Number(x.toPrecision(6))}) is not finite: a drawn weight must be finite inside (0, 1)`);
    return value;
  };
  const wanted = p.map(finite),
    start = Float64Array.from({ length: degree + 1 }, (_, j) => finite(at(j)));
  const reached = expect(basis, start);
  const missing = wanted.map((value, i) => Math.sqrt(share[i]) * (value - reached[i]));
  const size = wanted.reduce((sum, value, i) => sum + share[i] * value * value, 0);

  const cut = TINY * Math.max(...plain.s),
    change = new Float64Array(degree + 1),
    left = missing.slice();
  plain.s.forEach((s, k) => {
    if (s <= cut) return;
    const along = dot(plain.u[k], missing);
    plain.u[k].forEach((value, i) => {
      left[i] -= along * value;
    });
    plain.v[k].forEach((value, j) => {
      change[j] += (along / s) * value;
    });
  });
  const unreachable = dot(left, left);
  if (unreachable <= 1e-18 * size) return start.map((value, j) => value + change[j]);

  const price =
    (BIAS_PRICE * unreachable + ERROR_PRICE * size) /
    (dot(
      noise,
      start.map((value) => value * value),
    ) || 1);
  const step = new Float64Array(degree + 1);
  ridge.s.forEach((s, k) => {
    const along = (dot(ridge.u[k], missing) * s) / (s * s + price);
    ridge.v[k].forEach((value, j) => {
      step[j] += along * value;
    });
  });
  return start.map((value, j) => value + step[j] / Math.sqrt(noise[j]));
}
