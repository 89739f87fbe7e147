// Frames that are light or dark as their page is; guesses as probabilities, kept on the reader's machine; their score.
(() => {
  const KEY = "lab-guesses", // claim: [probability, did it hold]
    EVEN = 0.25; // the score of who says 50 % of everything

  const read = () => {
    try {
      return JSON.parse(localStorage.getItem(KEY)) ?? {};
    } catch {
      return {}; // a browser that keeps nothing
    }
  };

  function keep(guesses) {
    try {
      localStorage.setItem(KEY, JSON.stringify(guesses));
    } catch {
      // The page works on; it forgets.
    }
    document.querySelectorAll(".calibration").forEach((place) => score(place, guesses));
  }

  /** A slider above the answer of a claim: opening the answer fixes what was said. */
  function ask(element) {
    const { claim, holds } = element.dataset,
      answer = element.querySelector("details"),
      told = read()[claim];
    const label = document.createElement("label"),
      shown = document.createElement("output"),
      bar = Object.assign(document.createElement("input"), { type: "range", min: 0, max: 100, step: 5, value: 50 });
    const show = () => (shown.textContent = `${bar.value} %`);
    bar.addEventListener("input", show);
    label.append("How sure are you that it holds? ", shown, bar);
    answer.before(label);
    if (told) [bar.value, bar.disabled, answer.open] = [100 * told[0], true, true];
    show();
    answer.addEventListener("toggle", () => {
      if (!answer.open || bar.disabled) return;
      bar.disabled = true;
      keep({ ...read(), [claim]: [bar.value / 100, Number(holds)] });
    });
  }

  /** The 95 % interval of a share (Wilson). */
  function interval(k, n) {
    const z = 1.96,
      middle = (k + (z * z) / 2) / (n + z * z),
      half = (z * Math.sqrt((k * (n - k)) / n + (z * z) / 4)) / (n + z * z);
    return [middle - half, middle + half];
  }

  /** How often claims held by how sure the reader was, in five classes, and the mean squared error. */
  function score(place, guesses) {
    const all = Object.values(guesses),
      { hold, fail } = place.dataset,
      decided = Number(hold) + Number(fail);
    const title = '<h2 id="your-guesses">How sure were you, and how often were you right?</h2>';
    if (all.length === 0) {
      place.innerHTML = `${title}<p>You have made no guess yet. Each lesson asks for some before it tells.</p>`;
      return;
    }
    const mean = (values) => values.reduce((a, b) => a + b, 0) / values.length,
      brier = mean(all.map(([p, held]) => (p - held) ** 2)),
      size = 240,
      at = (p) => 30 + p * (size - 40),
      up = (p) => size - 30 - p * (size - 40);
    const marks = [0, 1, 2, 3, 4].flatMap((k) => {
      const some = all.filter(([p]) => Math.min(4, Math.floor(5 * p)) === k);
      if (some.length === 0) return [];
      const held = some.filter(([, one]) => one).length,
        x = at(mean(some.map(([p]) => p))),
        [low, high] = interval(held, some.length);
      return `<path d="M${x} ${up(low)}V${up(high)}"/><circle cx="${x}" cy="${up(held / some.length)}" r="5"/>`;
    });
    place.innerHTML = `${title}
      <svg viewBox="0 0 ${size} ${size}" role="img" aria-label="how often claims held, by how sure you were">
      <path class="even" d="M${at(0)} ${up(0)}L${at(1)} ${up(1)}"/>
      <path class="axis" d="M${at(0)} ${up(1)}V${up(0)}H${at(1)}"/>
      <text x="${at(0.5)}" y="${size - 8}" text-anchor="middle">how sure you were, 0 to 100 %</text>
      <text transform="translate(16 ${up(0.5)}) rotate(-90)" text-anchor="middle">how often it held</text>
      ${marks.join("")}</svg>
      <p>${all.length} ${all.length === 1 ? "guess" : "guesses"}, score ${brier.toFixed(2)}: the mean squared distance of
      what you said from what was found. 0 is perfect, and who says 50 % of everything gets ${EVEN}. Dots on the dashed
      line are well judged; a line is a dot's 95 % interval, wide while there are few.</p>
      <p>The authors wrote claims of their own before their runs. ${decided} are decided, and ${hold} of these hold: had
      they been certain of each, their score would be ${(fail / decided).toFixed(2)}.</p>
      <p>Kept in this browser alone. <button type="button">Forget my guesses</button></p>`;
    place.querySelector("button").addEventListener("click", () => {
      localStorage.removeItem(KEY);
      location.reload();
    });
  }

  addEventListener("DOMContentLoaded", () => {
    const page = document.documentElement,
      frames = [...document.querySelectorAll("iframe.explorer")],
      tell = () => frames.forEach((frame) => frame.contentWindow.postMessage({ theme: page.dataset.theme }, "*"));
    frames.forEach((frame) => frame.addEventListener("load", tell));
    new MutationObserver(tell).observe(page, { attributes: true, attributeFilter: ["data-theme"] });
    document.querySelectorAll(".guess").forEach(ask);
    document.querySelectorAll(".calibration").forEach((place) => score(place, read()));
  });
})();
