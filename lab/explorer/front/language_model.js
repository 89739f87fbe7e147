// A small language model in plain JavaScript: the chances of the next token, their gradient by every weight, and AdamW.
// It is a Qwen3 of data/models, whose weights come as a safetensors file; a test compares every number with torch's.
import { safetensors } from "./beside.js";

/** What config.json of the model says; other widths are read off the weights. */
const HEAD = 32,
  EPS = 1e-6,
  THETA = 10000;
const ENDS = [256, 258]; // the tokens that end an answer
const ADAMW = { b1: 0.9, b2: 0.999, eps: 1e-8, decay: 0.01, norm: 1 }; // `norm`: to which gradients are clipped
/** The byte of each token below 256, in the order of byte-level BPE: printable bytes first. */
const BYTES = (() => {
  const printable = (byte) => (byte > 32 && byte < 127) || (byte > 160 && byte !== 173),
    every = Array.from({ length: 256 }, (_, byte) => byte);
  return [...every.filter(printable), ...every.filter((byte) => !printable(byte))];
})();

export const encode = (text) => Array.from(new TextEncoder().encode(text), (byte) => BYTES.indexOf(byte));
export const decode = (tokens) =>
  new TextDecoder().decode(Uint8Array.from(tokens.filter((token) => token < 256).map((token) => BYTES[token])));

/** { flat, tensors, layers } of a safetensors file: all weights in one array, and where in it each of them lies. */
export function read(buffer) {
  const { flat, tensors } = safetensors(buffer),
    numbers = Object.keys(tensors).map((name) => Number(name.split(".")[2]) || 0);
  return { flat, tensors, layers: 1 + Math.max(...numbers) };
}

/** The weights of a layer, by the names that they have here. */
const NAMES = {
  input: "input_layernorm",
  after: "post_attention_layernorm",
  qNorm: "self_attn.q_norm",
  kNorm: "self_attn.k_norm",
  q: "self_attn.q_proj",
  k: "self_attn.k_proj",
  v: "self_attn.v_proj",
  o: "self_attn.o_proj",
  gate: "mlp.gate_proj",
  up: "mlp.up_proj",
  down: "mlp.down_proj",
};

/** Parts of a flat array by the names of the weights: of the weights themselves, or of their gradient. */
function parts({ tensors, layers }, flat) {
  const at = (name) => {
    const [from, to] = tensors[`model.${name}.weight`].data_offsets;
    return flat.subarray(from / 4, to / 4);
  };
  return {
    embedding: at("embed_tokens"),
    norm: at("norm"),
    layers: Array.from({ length: layers }, (_, l) =>
      Object.fromEntries(Object.entries(NAMES).map(([short, name]) => [short, at(`layers.${l}.${name}`)])),
    ),
  };
}

// --- Operations on rows of numbers: one row a token -------------------------------------------------------------------

/** x W^T: each row of x (width `ins`) with each row of W, four by two at a time, which is what takes the time. */
function multiply(x, W, ins) {
  const rows = x.length / ins,
    outs = W.length / ins,
    y = new Float32Array(rows * outs),
    whole = rows - (rows % 4);
  for (let r = 0; r < whole; r += 4) {
    const [a, b, c, d] = [r * ins, (r + 1) * ins, (r + 2) * ins, (r + 3) * ins];
    for (let from = 0; from < outs; from += 2) {
      const o = Math.min(from, outs - 2), // an odd last one is computed with its neighbour
        [u, v] = [o * ins, (o + 1) * ins];
      let [a0, a1, b0, b1, c0, c1, d0, d1] = [0, 0, 0, 0, 0, 0, 0, 0];
      for (let i = 0; i < ins; i++) {
        const w0 = W[u + i],
          w1 = W[v + i];
        a0 += x[a + i] * w0;
        a1 += x[a + i] * w1;
        b0 += x[b + i] * w0;
        b1 += x[b + i] * w1;
        c0 += x[c + i] * w0;
        c1 += x[c + i] * w1;
        d0 += x[d + i] * w0;
        d1 += x[d + i] * w1;
      }
      const at = r * outs + o;
      y[at] = a0;
      y[at + 1] = a1;
      y[at + outs] = b0;
      y[at + outs + 1] = b1;
      y[at + 2 * outs] = c0;
      y[at + 2 * outs + 1] = c1;
      y[at + 3 * outs] = d0;
      y[at + 3 * outs + 1] = d1;
    }
  }
  for (let r = whole; r < rows; r++)
    for (let o = 0; o < outs; o++) {
      let sum = 0;
      for (let i = 0; i < ins; i++) sum += x[r * ins + i] * W[o * ins + i];
      y[r * outs + o] = sum;
    }
  return y;
}

function transposed(x, width) {
  const rows = x.length / width,
    y = new Float32Array(x.length);
  for (let r = 0; r < rows; r++) for (let i = 0; i < width; i++) y[i * rows + r] = x[r * width + i];
  return y;
}

function add(to, x) {
  for (let i = 0; i < x.length; i++) to[i] += x[i];
  return to;
}

/** Back through y = x W^T: adds to the gradient of W, returns that of x. */
function multiplyBack(dy, x, W, ins, dW) {
  const outs = W.length / ins,
    rows = x.length / ins;
  add(dW, multiply(transposed(dy, outs), transposed(x, ins), rows));
  return multiply(dy, transposed(W, ins), outs);
}

/** RMSNorm of pieces as wide as the weight: of tokens, or of their heads. */
function normed(x, weight) {
  const width = weight.length,
    y = new Float32Array(x.length);
  for (let at = 0; at < x.length; at += width) {
    const scale = scaleOf(x, at, width);
    for (let i = 0; i < width; i++) y[at + i] = x[at + i] * scale * weight[i];
  }
  return y;
}

function scaleOf(x, at, width) {
  let sum = 0;
  for (let i = at; i < at + width; i++) sum += x[i] * x[i];
  return 1 / Math.sqrt(sum / width + EPS);
}

function normedBack(dy, x, weight, dWeight) {
  const width = weight.length,
    dx = new Float32Array(x.length);
  for (let at = 0; at < x.length; at += width) {
    const scale = scaleOf(x, at, width);
    let along = 0;
    for (let i = 0; i < width; i++) along += dy[at + i] * weight[i] * x[at + i];
    along *= (scale * scale) / width;
    for (let i = 0; i < width; i++) {
      dWeight[i] += dy[at + i] * x[at + i] * scale;
      dx[at + i] = scale * (dy[at + i] * weight[i] - x[at + i] * along);
    }
  }
  return dx;
}

/** Rotary positions, in place: the two halves of a head turn by angles of the position; `way` -1 turns back. */
function turned(x, places, way = 1) {
  const width = x.length / places.length;
  places.forEach(({ position }, r) => {
    for (let i = 0; i < HEAD / 2; i++) {
      const angle = way * position * THETA ** ((-2 * i) / HEAD),
        [cos, sin] = [Math.cos(angle), Math.sin(angle)];
      for (let at = r * width + i; at < (r + 1) * width; at += HEAD) {
        const [a, b] = [x[at], x[at + HEAD / 2]];
        x[at] = a * cos - b * sin;
        x[at + HEAD / 2] = b * cos + a * sin;
      }
    }
  });
  return x;
}

/**
 * Attention of every head of every row to the tokens of its own text so far. Keys and values lie in a cache at
 * `slot` = text * longest + position; a head shares them with its neighbour. `chances` are kept for the way back.
 */
function attention(q, cache, places, chances) {
  const out = new Float32Array(q.length);
  eachHead(q, cache, places, (at, key, { position }) => {
    const chance = new Float32Array(position + 1);
    let most = -Infinity,
      sum = 0;
    for (let t = 0; t <= position; t++) {
      let score = 0;
      for (let i = 0; i < HEAD; i++) score += q[at + i] * cache.keys[key + t * cache.width + i];
      chance[t] = score / Math.sqrt(HEAD);
      most = Math.max(most, chance[t]);
    }
    for (let t = 0; t <= position; t++) sum += chance[t] = Math.exp(chance[t] - most);
    for (let t = 0; t <= position; t++) {
      chance[t] /= sum;
      for (let i = 0; i < HEAD; i++) out[at + i] += chance[t] * cache.values[key + t * cache.width + i];
    }
    chances.push(chance);
  });
  return out;
}

/** `act(at, key, place)`: where in q a head begins, and where in the cache the first key that it sees. */
function eachHead(q, cache, places, act) {
  const heads = q.length / HEAD / places.length,
    shared = (heads * HEAD) / cache.width;
  places.forEach((place, r) => {
    for (let j = 0; j < heads; j++)
      act((r * heads + j) * HEAD, place.text * cache.longest * cache.width + Math.floor(j / shared) * HEAD, place);
  });
}

/** Returns the gradient of q; adds those of keys and values to `back`, a cache of the same form. */
function attentionBack(dOut, q, cache, back, places, chances) {
  const dq = new Float32Array(q.length);
  let head = 0;
  eachHead(q, cache, places, (at, key, { position }) => {
    const chance = chances[head++],
      slope = new Float32Array(position + 1);
    let mean = 0;
    for (let t = 0; t <= position; t++) {
      for (let i = 0; i < HEAD; i++) {
        slope[t] += dOut[at + i] * cache.values[key + t * cache.width + i];
        back.values[key + t * cache.width + i] += chance[t] * dOut[at + i];
      }
      mean += chance[t] * slope[t];
    }
    for (let t = 0; t <= position; t++) {
      const score = (chance[t] * (slope[t] - mean)) / Math.sqrt(HEAD);
      for (let i = 0; i < HEAD; i++) {
        dq[at + i] += score * cache.keys[key + t * cache.width + i];
        back.keys[key + t * cache.width + i] += score * q[at + i];
      }
    }
  });
  return dq;
}

// --- The model --------------------------------------------------------------------------------------------------------

export class LanguageModel {
  /** `first`: what `read` returns, or `{ ...first, flat }` with other weights; models made of it train apart. */
  constructor(first) {
    this.first = first;
    this.flat = first.flat.slice();
    this.weights = parts(first, this.flat);
    [this.vocabulary, this.width] = first.tensors["model.embed_tokens.weight"].shape;
    Object.assign(this, { moments: null, steps: 0 }); // of AdamW
  }

  /** Room for the keys and values of `texts` texts, a pair of arrays a layer. */
  cache(texts, longest) {
    return this.weights.layers.map(({ k }) => {
      const width = k.length / this.width;
      return {
        width,
        longest,
        ...Object.fromEntries(["keys", "values"].map((of) => [of, new Float32Array(texts * longest * width)])),
      };
    });
  }

  /**
   * The scores over the vocabulary after each token, whose `places` are { text, position }; earlier tokens of a text are in
   * the cache, or come before it here. Also the tape, which `backward` reads.
   */
  forward(tokens, places, caches) {
    const { weights, width } = this;
    let h = new Float32Array(tokens.length * width);
    tokens.forEach((token, r) => h.set(weights.embedding.subarray(token * width, (token + 1) * width), r * width));
    const layers = weights.layers.map((W, l) => {
      const cache = caches[l],
        x = normed(h, W.input),
        [q, k, v] = [W.q, W.k, W.v].map((matrix) => multiply(x, matrix, width)),
        query = turned(normed(q, W.qNorm), places),
        key = turned(normed(k, W.kNorm), places),
        chances = [];
      places.forEach(({ text, position }, r) => {
        const slot = (text * cache.longest + position) * cache.width;
        cache.keys.set(key.subarray(r * cache.width, (r + 1) * cache.width), slot);
        cache.values.set(v.subarray(r * cache.width, (r + 1) * cache.width), slot);
      });
      const seen = attention(query, cache, places, chances),
        middle = add(multiply(seen, W.o, q.length / tokens.length), h),
        y = normed(middle, W.after),
        [gate, up] = [W.gate, W.up].map((matrix) => multiply(y, matrix, width)),
        inner = gate.map((g, i) => (g / (1 + Math.exp(-g))) * up[i]),
        layer = { h, x, q, k, query, chances, seen, middle, y, gate, up, inner };
      h = add(multiply(inner, W.down, gate.length / tokens.length), middle);
      return layer;
    });
    const last = normed(h, weights.norm);
    return { scores: multiply(last, weights.embedding, width), tape: { tokens, places, caches, layers, h, last } };
  }

  /** The gradient by all weights, in one array, from that by the scores; every text begins on the tape. */
  backward(dScores, { tokens, places, caches, layers, h, last }) {
    const { weights, width } = this,
      flat = new Float32Array(this.flat.length),
      d = parts(this.first, flat);
    let dh = normedBack(multiplyBack(dScores, last, weights.embedding, width, d.embedding), h, weights.norm, d.norm);
    for (let l = layers.length - 1; l >= 0; l--) {
      const [W, dW, cache, tape] = [weights.layers[l], d.layers[l], caches[l], layers[l]],
        [inner, heads] = [tape.gate, tape.q].map((x) => x.length / tokens.length),
        dInner = multiplyBack(dh, tape.inner, W.down, inner, dW.down),
        dUp = new Float32Array(dInner.length),
        dGate = new Float32Array(dInner.length);
      dInner.forEach((slope, i) => {
        const g = tape.gate[i],
          open = 1 / (1 + Math.exp(-g));
        dUp[i] = slope * g * open;
        dGate[i] = slope * tape.up[i] * open * (1 + g * (1 - open));
      });
      const dy = add(
        multiplyBack(dGate, tape.y, W.gate, width, dW.gate),
        multiplyBack(dUp, tape.y, W.up, width, dW.up),
      );
      add(dh, normedBack(dy, tape.middle, W.after, dW.after));
      const back = { keys: new Float32Array(cache.keys.length), values: new Float32Array(cache.values.length) },
        dSeen = multiplyBack(dh, tape.seen, W.o, heads, dW.o),
        dQuery = attentionBack(dSeen, tape.query, cache, back, places, tape.chances),
        [dKey, dv] = [back.keys, back.values].map((all) => gathered(all, places, cache));
      const dq = normedBack(turned(dQuery, places, -1), tape.q, W.qNorm, dW.qNorm),
        dk = normedBack(turned(dKey, places, -1), tape.k, W.kNorm, dW.kNorm),
        dx = multiplyBack(dq, tape.x, W.q, width, dW.q);
      add(dx, multiplyBack(dk, tape.x, W.k, width, dW.k));
      add(dx, multiplyBack(dv, tape.x, W.v, width, dW.v));
      add(dh, normedBack(dx, tape.h, W.input, dW.input));
    }
    tokens.forEach((token, r) =>
      add(d.embedding.subarray(token * width, (token + 1) * width), dh.subarray(r * width, (r + 1) * width)),
    );
    return flat;
  }

  /**
   * Answers to prompts, at temperature 1, as { prompt, answer } in tokens; `uniforms(text, most)` gives each answer its
   * random numbers, one a token. Each prompt is read once, and its answers share what was read.
   */
  sample(prompts, times, most, uniforms) {
    const longest = Math.max(...prompts.map((prompt) => prompt.length)) + most,
      caches = this.cache(prompts.length * times, longest),
      texts = prompts.flatMap((prompt) => Array.from({ length: times }, () => ({ prompt, answer: [] }))),
      random = texts.map((_, text) => uniforms(text, most));
    const tokens = prompts.flat(),
      places = prompts.flatMap((prompt, i) => prompt.map((_, position) => ({ text: i * times, position })));
    let { scores } = this.forward(tokens, places, caches),
      end = -1;
    const ends = prompts.map((prompt) => (end += prompt.length)); // the rows of the prompts' last tokens
    for (const { keys, values, width } of caches)
      for (const kept of [keys, values])
        prompts.forEach((_, i) => {
          const from = i * times * longest * width;
          for (let k = 1; k < times; k++) kept.copyWithin(from + k * longest * width, from, from + longest * width);
        });
    let live = texts.map((_, text) => [text, ends[Math.floor(text / times)]]); // each with the row of its scores
    for (let t = 0; t < most; t++) {
      for (const [text, row] of live) texts[text].answer.push(drawn(this.chances(scores, row), random[text][t]));
      live = live.filter(([text]) => !ENDS.includes(texts[text].answer[t])).map(([text], row) => [text, row]);
      if (!live.length || t === most - 1) break;
      ({ scores } = this.forward(
        live.map(([text]) => texts[text].answer[t]),
        live.map(([text]) => ({ text, position: texts[text].prompt.length + t })),
        caches,
      ));
    }
    return texts;
  }

  chances(scores, row) {
    const chance = Float64Array.from(scores.subarray(row * this.vocabulary, (row + 1) * this.vocabulary)),
      most = chance.reduce((a, b) => Math.max(a, b));
    let sum = 0;
    for (let i = 0; i < chance.length; i++) sum += chance[i] = Math.exp(chance[i] - most);
    for (let i = 0; i < chance.length; i++) chance[i] /= sum;
    return chance;
  }

  /**
   * The gradient of the loss of the lab's trainer: minus advantage times log-probability, as a mean over all tokens of the
   * answers; `policy_gradient_loss` of lab/llm/train/token_loss.py where nothing is clipped. `total` counts those tokens in
   * the step, of which these texts may be a part.
   */
  gradient(texts, advantages, total) {
    const every = texts.map(({ prompt, answer }) => [...prompt, ...answer]),
      places = every.flatMap((tokens, text) => tokens.map((_, position) => ({ text, position }))),
      longest = Math.max(...every.map((tokens) => tokens.length)),
      { scores, tape } = this.forward(every.flat(), places, this.cache(texts.length, longest)),
      dScores = new Float32Array(scores.length);
    let row = 0;
    texts.forEach(({ prompt, answer }, text) => {
      row += prompt.length - 1; // what is computed at a token predicts the next one
      for (const token of answer) {
        const share = advantages[text] / total,
          slopes = this.chances(scores, row).map((chance, i) => share * (chance - (i === token ? 1 : 0)));
        dScores.set(slopes, row++ * this.vocabulary);
      }
      row++;
    });
    return this.backward(dScores, tape);
  }

  /** A step of AdamW as torch takes it: gradients clipped to norm 1, and matrices decay; the trainer's numbers. */
  step(gradient, rate) {
    this.moments ??= [new Float32Array(this.flat.length), new Float32Array(this.flat.length)];
    const { flat } = this,
      [m, v] = this.moments,
      { b1, b2, eps, decay, norm } = ADAMW,
      length = Math.sqrt(gradient.reduce((sum, g) => sum + g * g, 0)),
      clip = Math.min(1, norm / (length + 1e-6));
    this.steps++;
    const [c1, c2] = [1 - b1 ** this.steps, 1 - b2 ** this.steps];
    for (const { shape, data_offsets } of Object.values(this.first.tensors)) {
      const keep = shape.length > 1 ? 1 - rate * decay : 1;
      for (let i = data_offsets[0] / 4; i < data_offsets[1] / 4; i++) {
        const g = gradient[i] * clip;
        m[i] = b1 * m[i] + (1 - b1) * g;
        v[i] = b2 * v[i] + (1 - b2) * g * g;
        flat[i] = flat[i] * keep - ((rate / c1) * m[i]) / (Math.sqrt(v[i] / c2) + eps);
      }
    }
  }
}

/** The token at which the chances, added up, pass a number in (0, 1). */
function drawn(chance, u) {
  let token = 0;
  for (let reach = chance[0]; token < chance.length - 1 && u >= reach; reach += chance[token]) token++;
  return token;
}

function gathered(all, places, { longest, width }) {
  const rows = new Float32Array(places.length * width);
  places.forEach(({ text, position }, r) => {
    const slot = (text * longest + position) * width;
    rows.set(all.subarray(slot, slot + width), r * width);
  });
  return rows;
}
