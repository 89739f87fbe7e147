// A tiny language model that practises in the page: questions, answers, ticks, steps. panel_verifier.js shows it.
import { LanguageModel, decode, encode, read } from "./language_model.js";
import { successFailure } from "./mathematics.js";
import { uniforms } from "./toy.js";
import { Work } from "./work.js";

export const ANSWERS = 16,
  MOST = 40, // tokens of an answer
  RATE = 5e-4;
const SEEDS = { practised: 0, others: 1, ticks: 2 },
  HELPERS = Math.max(1, Math.min(8, (globalThis.navigator?.hardwareConcurrency ?? 2) - 1));

/** Questions of lab.llm.data.arithmetic, level 3: of its training split, and of the other. */
const asked = (text) =>
  text.split(" ").map((one) => {
    const [sum, gold] = one.split("=");
    return { question: `${sum}=?`, gold };
  });
export const QUESTIONS = {
  practised: asked(
    "8*4+9=41 7*6+5=47 4+2*4=12 4*3+2=14 (3+7)*6=60 (9+5)*3=42 (2+9)*7=77 5*6-7=23 " +
      "2*6+3=15 9+8-2=15 (8+7)*7=105 (6+3)*4=36 2*7+5=19 2+9*4=38 2*9-6=12 4*3+7=19",
  ),
  others: asked(
    "(8-2)*2=12 6+2-4=4 3*5-9=6 2+8*2=18 (6-5)*7=7 9+8-8=9 8+2-6=4 3*9-5=22 " +
      "4*2-5=3 8+4-6=6 5*4+3=23 7*9-5=58 (6-4)*3=6 4*4-2=14 (3+4)*8=56 7+8-3=12",
  ),
};

/** Whether the last boxed number of an answer is the gold one. */
export const isRight = (text, gold) => text.match(/.*\\boxed\{([^}]*)\}/s)?.[1].trim() === gold;

/** What all runs share: the model's first weights, helpers that compute, and its answers before the first step. */
export class Practice {
  constructor(buffer) {
    this.first = read(buffer);
    this.helpers = Array.from({ length: HELPERS }, () => new Work());
    this.before = null; // every run begins with the same answers
  }

  /** Give `task` a part of the items each; the answers in the order of the items. */
  split(items, task) {
    const size = Math.ceil(items.length / HELPERS),
      parts = this.helpers.map((helper, i) => [helper, items.slice(i * size, (i + 1) * size), i * size]);
    return Promise.all(parts.filter(([, part]) => part.length).map((one) => task(...one)));
  }

  /** Sixteen answers to each question of a kind, as { prompt, answer, text, right }. */
  async answers(flat, kind, step) {
    const parts = await this.split(QUESTIONS[kind], (helper, part, first) =>
        helper.ask("answer", {
          ...{ model: { ...this.first, flat }, first, step, times: ANSWERS, most: MOST, seed: SEEDS[kind] },
          prompts: part.map(({ question }) => encode(`${question}\n`)),
        }),
      ),
      all = parts.flat();
    return QUESTIONS[kind].map(({ gold }, i) =>
      all.slice(i * ANSWERS, (i + 1) * ANSWERS).map((one) => {
        const text = decode(one.answer);
        return { ...one, text, right: isRight(text, gold) };
      }),
    );
  }
}

/** [pass@1, pass@16] of groups of sixteen answers. */
export const passes = (groups) => {
  const share = (act) => groups.reduce((sum, group) => sum + act(group), 0) / groups.length;
  return [
    share((group) => group.filter(({ right }) => right).length / group.length),
    share((group) => Number(group.some(({ right }) => right))),
  ];
};

/** One training: an estimator's (gap, offset) at N = 16, and the share of ticks that are wrong when made for the reader. */
export class Run {
  constructor(practice, sequences, wrong) {
    Object.assign(this, { practice, wrong, step: 0, points: [] });
    this.paid = successFailure(sequences);
    this.model = new LanguageModel(practice.first);
  }

  /** The model answers, with the same random numbers at a step of any run; other questions have the same at every step. */
  async answer() {
    const { practice, step } = this;
    if (step > 0 || !practice.before) {
      const both = [
        await practice.answers(this.model.flat, "practised", step),
        await practice.answers(this.model.flat, "others", 0),
      ];
      if (step === 0) practice.before = both;
      this.both = both;
    } else this.both = practice.before;
    this.groups = this.both[0];
    this.ticks = this.groups.map(() => null); // of a question: whether each answer was ticked
    this.points.push({ practised: passes(this.both[0]), others: passes(this.both[1]) });
  }

  /** Ticks for a question, of which each is wrong with the chance of the run. */
  tick(question) {
    const luck = uniforms(SEEDS.ticks, this.step, question, ANSWERS);
    this.ticks[question] = this.groups[question].map(({ right }, i) => right !== luck[i] < this.wrong);
  }

  /** One step of AdamW on the ticks; questions without are ticked here. Then the model answers again. */
  async learn() {
    const [right, wrong] = this.paid,
      paid = this.groups.flatMap((group, question) => {
        if (!this.ticks[question]) this.tick(question);
        const ticks = this.ticks[question],
          K = ticks.filter(Boolean).length;
        return group.map(({ prompt, answer }, i) => ({ prompt, answer, advantage: ticks[i] ? right[K] : wrong[K] }));
      }),
      total = paid.reduce((sum, { answer }) => sum + answer.length, 0),
      heard = paid.filter(({ advantage }) => advantage !== 0), // the others have no gradient
      parts = await this.practice.split(heard, (helper, part) =>
        helper.ask("slope", {
          model: { ...this.practice.first, flat: this.model.flat },
          texts: part,
          advantages: part.map(({ advantage }) => advantage),
          total,
        }),
      );
    const none = new Float32Array(this.model.flat.length); // a step without contrast moves by what earlier ones left
    this.model.step(
      parts.reduce((sum, part) => sum.map((x, i) => x + part[i]), none),
      RATE,
    );
    this.step++;
    await this.answer();
  }
}
