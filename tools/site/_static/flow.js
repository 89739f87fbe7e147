// Recorded trainings of mazes: one dot a maze, which a slider moves through the steps that were recorded.
(() => {
  const LOWEST = -12.5,
    HIGHEST = 3, // of the axis, in log-odds: below 1e-12 a maze is drawn at 1e-12
    TICKS = { "10⁻¹²": -12, "10⁻⁹": -9, "10⁻⁶": -6, "10⁻³": -3, "½": 0, "0.99": 2 },
    WIDE = 700,
    LEFT = 40, // of the numbers beside a row
    LANE = 20, // a row has one for each length of path
    GAP = 26;

  const at = (odds) => LEFT + ((Math.max(-12, odds) - LOWEST) / (HIGHEST - LOWEST)) * (WIDE - LEFT),
    text = (x, y, words, more = "") => `<text x="${x}" y="${y}" ${more}>${words}</text>`;

  function flow(section) {
    const { steps, moves, trainings } = JSON.parse(section.querySelector("script").textContent),
      lengths = [...new Set(moves)].sort((a, b) => a - b),
      row = lengths.length * LANE + GAP,
      tall = Object.keys(trainings).length * row + 24;
    const lane = (maze) => (lengths.indexOf(moves[maze]) + 0.15 + 0.7 * ((maze * 0.618) % 1)) * LANE; // spread evenly
    const rows = Object.keys(trainings).map((title, place) => {
      const top = place * row + GAP - 4,
        names = lengths.map((length, k) => text(LEFT - 8, top + (k + 0.7) * LANE, length, 'text-anchor="end"'));
      const dots = moves.map((_, maze) => `<circle r="3.2" cy="${top + lane(maze)}"/>`);
      return `${text(0, top - 7, title, 'class="title"')}<g>${dots.join("")}</g>${names.join("")}
        ${text(WIDE, top - 7, "", 'class="count" text-anchor="end"')}`;
    });
    const ticks = Object.entries(TICKS).map(
      ([words, odds]) => `<path d="M${at(odds)} ${GAP - 6}V${tall - 20}"/>${text(at(odds), tall - 4, words, 'text-anchor="middle"')}`,
    );
    section.insertAdjacentHTML(
      "beforeend",
      `<label>Step <output></output><input type="range" min="0" max="${steps.length - 1}" value="0"></label>
      <svg viewBox="0 0 ${WIDE} ${tall}" role="img" aria-label="the pass rate of each maze">${ticks.join("")}${rows.join("")}</svg>
      <p>One dot a maze, at its exact pass rate, in the recorded steps of the four trainings above; 8, 12 and 16 are the
      moves of its shortest path. Dots in colour are below where they began.</p>`,
    );
    const bar = section.querySelector("input"),
      groups = [...section.querySelectorAll("g")].map((group) => [...group.children]),
      counts = section.querySelectorAll(".count");
    const show = () => {
      section.querySelector("output").textContent = `${steps[bar.value]} of ${steps.at(-1)}`;
      Object.values(trainings).forEach((frames, place) => {
        const now = frames[bar.value],
          fell = now.map((odds, maze) => odds < frames[0][maze]);
        groups[place].forEach((dot, maze) => {
          dot.style.cx = `${at(now[maze])}px`;
          dot.classList.toggle("fell", fell[maze]);
        });
        counts[place].textContent = `${fell.filter(Boolean).length} of ${moves.length} below their start`;
      });
    };
    bar.addEventListener("input", show);
    show();
  }

  addEventListener("DOMContentLoaded", () => document.querySelectorAll(".flow").forEach(flow));
})();
