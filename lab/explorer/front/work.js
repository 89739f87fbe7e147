// What takes longer than a frame is done by workers, made of this bundle's own text; where the browser refuses them,
// here. A worker is asked for one task at a time and answers in that order.
import { decomposition } from "./design.js";
import { readFiles } from "./files.js";
import { learn, told } from "./given.js";
import { LanguageModel } from "./language_model.js";
import { condensed, mixing, resampled } from "./pass_rates.js";
import { laws } from "./recipe.js";
import { settingsWeighting } from "./settings.js";
import { uniforms } from "./toy.js";
import { trainedWeighting } from "./weighting.js";

const SLICE = 25, // milliseconds of draws in one answer
  FEW = 64, // different counts up to which problems are drawn again
  MOST_RATES = 20000;

let last = { number: 0, again: null }; // the last file, with its problems drawn again

/**
 * A file as the page keeps it: one entry for all problems with the same counts, and their pass rates without noise.
 * `settings`: the weighting that a settings file beside it says, see settingsWeighting.
 */
export function settled(counts, settings = null) {
  const short = condensed(counts),
    { n, correct, exact, times } = short;
  if (exact && exact.length > MOST_RATES)
    throw new Error(`${exact.length} different pass rates: the page shows up to ${MOST_RATES}; lab audit shows all`);
  const trained = trainedWeighting(counts) ?? settings,
    fit = counts.fit ?? (exact ? null : mixing(n, correct, undefined, times)),
    again = !exact && n.length <= FEW ? resampled(counts.n, counts.correct, counts.problem) : null,
    problems = new Set(counts.problem ?? []).size || null; // null: each group has its own
  last = { number: last.number + 1, again };
  return { ...short, problems, notes: counts.notes, meaning: counts.meaning, trained, fit, number: last.number, few: again !== null };
}

const TASKS = {
  learn,
  decompose: ({ degree, N }) => decomposition(degree, N),
  read: async ({ files, said, settings }) =>
    settled(await readFiles(files, said), settings && settingsWeighting(settings.name, await settings.text())),
  settle: ({ counts }) => settled(counts),
  laws: ({ recipe, sequences, p }) => sequences.map((each) => laws(recipe, each, p)),

  /** Answers of a language model to the prompts from number `first` on, each with random numbers of its own. */
  answer: ({ model, prompts, first, times, most, seed, step }) =>
    new LanguageModel(model).sample(prompts, times, most, (text) => uniforms(seed, step, first * times + text, most)),
  slope: ({ model, texts, advantages, total }) => new LanguageModel(model).gradient(texts, advantages, total),

  /** The masses of draws `from` and as many of the next as a moment allows, up to `to`; none of a file before the last. */
  draws({ number, from, to }) {
    const began = performance.now(),
      masses = [];
    if (number !== last.number) return masses;
    do masses.push(last.again(from + masses.length).mass);
    while (from + masses.length < to && performance.now() - began < SLICE);
    return masses;
  },
};

let bundle = null;

const EXPORT = /\nexport \{[^}]*\};\s*$/;

/**
 * The text of this bundle, which workers are made of: as a script, for a page from disk may start no module. A host that
 * tells no such text, but an address or nothing, has no workers.
 */
export function makeWorkersOf(text) {
  if (EXPORT.test(text ?? "")) bundle = `"use strict";${text.replace(EXPORT, "")}`;
}

/** In a worker: answer what the page asks. */
export function serve(scope) {
  scope.addEventListener("message", async ({ data: { id, task, facts } }) => {
    try {
      scope.postMessage({ id, answer: await TASKS[task](facts) });
    } catch (error) {
      scope.postMessage({ id, fault: error.message });
    }
  });
}

export class Work {
  constructor() {
    Object.assign(this, { worker: null, refused: false, waiting: new Map(), next: 1 });
  }

  /** Whether a worker does the work; false where the browser has refused to start one. */
  get away() {
    if (!this.worker && !this.refused) this.start();
    return !this.refused;
  }

  start() {
    try {
      if (!bundle) throw new Error("no bundle");
      const address = URL.createObjectURL(new Blob([bundle], { type: "text/javascript" }));
      this.worker = new Worker(address);
    } catch {
      this.refuse();
      return;
    }
    this.worker.addEventListener("error", (event) => {
      event.preventDefault();
      this.refuse();
    });
    this.worker.addEventListener("message", ({ data: { id, answer, fault } }) => {
      const { resolve, reject } = this.waiting.get(id);
      this.waiting.delete(id);
      if (fault === undefined) resolve(answer);
      else reject(new Error(fault));
    });
    this.ask("learn", told());
  }

  /** From here on the page itself works, also at what the worker had been asked. */
  refuse() {
    const left = [...this.waiting.values()];
    this.worker?.terminate();
    Object.assign(this, { refused: true, worker: null });
    this.waiting.clear();
    for (const { task, facts, resolve, reject } of left) this.here(task, facts).then(resolve, reject);
  }

  async here(task, facts) {
    await new Promise((done) => setTimeout(done)); // what is on the screen is drawn first
    return TASKS[task](facts);
  }

  /** The answer to one of TASKS, or its sentence thrown. */
  ask(task, facts) {
    if (!this.away) return this.here(task, facts);
    return new Promise((resolve, reject) => {
      const id = this.next++;
      this.waiting.set(id, { task, facts, resolve, reject });
      this.worker.postMessage({ id, task, facts });
    });
  }
}

export const FILES = new Work();
