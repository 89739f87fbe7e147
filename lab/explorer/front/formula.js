// A formula for w(p), read by descent and never evaluated as code; lab/mathematics/formula.py reads the same language.

const FUNCTIONS = {
  exp: [1, Math.exp],
  log: [1, Math.log],
  sqrt: [1, Math.sqrt],
  abs: [1, Math.abs],
  sin: [1, Math.sin],
  cos: [1, Math.cos],
  tanh: [1, Math.tanh],
  step: [1, (x) => (x >= 0 ? 1 : Number.isNaN(x) ? NaN : 0)],
  min: [2, Math.min],
  max: [2, Math.max],
};
const LONGEST = 200,
  DEEPEST = 30;

/** w(p) as a function of a number. Throws one sentence that says where reading stopped. */
export function parseFormula(text) {
  if (text.length > LONGEST) throw new Error(`the formula has ${text.length} characters: write at most ${LONGEST}`);
  const tokens = [
    ...text.matchAll(
      /\s*(?:(\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?)|([A-Za-z_]\w*)|(\*\*|[-+*/^(),])|(\S))/g,
    ),
  ].map(([, number, name, sign, other]) => ({ number, name, sign, other }));
  let at = 0,
    depth = 0;
  const said = (token) => token.number ?? token.name ?? token.sign ?? token.other;
  const where = () => (at < tokens.length ? `at '${said(tokens[at])}'` : "at its end");
  const fault = (wanted) =>
    new Error(
      `cannot read the formula ${where()}: expected ${wanted}; ` +
        `write p, q = 1-p, numbers, + - * / ^ and ${Object.keys(FUNCTIONS).join(", ")}, for example exp(-5*p)`,
    );
  const take = (...signs) => (signs.includes(tokens[at]?.sign) ? tokens[at++].sign : null);
  const need = (sign) => {
    if (!take(sign)) throw fault(`'${sign}'`);
  };

  function sum() {
    if (++depth > DEEPEST) throw new Error(`the formula is nested more than ${DEEPEST} deep: write it flatter`);
    let left = product();
    for (let sign; (sign = take("+", "-")); ) {
      const one = left,
        two = product();
      left = sign === "+" ? (p) => one(p) + two(p) : (p) => one(p) - two(p);
    }
    depth--;
    return left;
  }
  function product() {
    let left = signed();
    for (let sign; (sign = take("*", "/")); ) {
      const one = left,
        two = signed();
      left = sign === "*" ? (p) => one(p) * two(p) : (p) => one(p) / two(p);
    }
    return left;
  }
  function signed() {
    const sign = take("+", "-");
    if (!sign) return power();
    if (++depth > DEEPEST) throw new Error(`the formula is nested more than ${DEEPEST} deep: write it flatter`);
    const inner = signed();
    depth--;
    return sign === "-" ? (p) => -inner(p) : inner;
  }
  function power() {
    const base = atom();
    if (!take("^", "**")) return base;
    const exponent = signed();
    return (p) => base(p) ** exponent(p);
  }
  function atom() {
    const token = tokens[at];
    if (token?.number) {
      const value = Number(token.number);
      at++;
      return () => value;
    }
    if (take("(")) {
      const inner = sum();
      need(")");
      return inner;
    }
    if (!token?.name) throw fault("a number, p or a function");
    if (token.name in FUNCTIONS && Object.hasOwn(FUNCTIONS, token.name)) {
      const [count, f] = FUNCTIONS[token.name];
      at++;
      need("(");
      const inner = [sum()];
      while (inner.length < count) {
        need(",");
        inner.push(sum());
      }
      need(")");
      return count === 1 ? (p) => f(inner[0](p)) : (p) => f(inner[0](p), inner[1](p));
    }
    const names = { p: (p) => p, q: (p) => 1 - p, pi: () => Math.PI, e: () => Math.E };
    if (!Object.hasOwn(names, token.name)) throw fault("p, q, pi, e or a function");
    at++;
    return names[token.name];
  }
  const whole = sum();
  if (at < tokens.length) throw fault("the end, or an operator");
  return whole;
}
