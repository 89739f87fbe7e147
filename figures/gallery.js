// Filters of the gallery. Their state is the page's address after the #, so that a view can be sent.
"use strict";
const form = document.getElementById("filters");
const articles = [...document.querySelectorAll("article")];
const entries = new Map([...document.querySelectorAll("[data-item]")].map((entry) => [entry.dataset.item, entry]));
const texts = new Map(articles.map((article) => [article, article.textContent.toLowerCase()]));
const boxes = [...form.querySelectorAll("[type=checkbox]")];
const names = [...new Set(boxes.map((box) => box.name))];

// An article fits if, of each filter, it has one of the boxes ticked or none is, and every word.
function fits(article, chosen) {
  const words = chosen.get("q").toLowerCase().split(/\s+/);
  return (
    names.every((name) => {
      const wanted = chosen.getAll(name);
      return !wanted.length || article.dataset[name].split("|").some((value) => wanted.includes(value));
    }) && words.every((word) => texts.get(article).includes(word))
  );
}

function show() {
  const chosen = new FormData(form);
  for (const article of articles) {
    article.hidden = !fits(article, chosen);
    entries.get(article.id).hidden = article.hidden;
  }
  for (const part of document.querySelectorAll("main > section, nav > div")) {
    part.hidden = !part.querySelector("article:not([hidden]), [data-item]:not([hidden])");
  }
  const shown = articles.filter((article) => !article.hidden).length;
  form.querySelector("[role=status]").textContent = `${shown} of ${articles.length} figures and tables`;
}

function remember() {
  const state = new URLSearchParams(new FormData(form));
  if (!state.get("q")) state.delete("q");
  history.replaceState(null, "", String(state) ? `#${state}` : location.pathname + location.search);
}

// An address with "=" is a state of the filters; any other is a place, which must not stay hidden.
function read() {
  const hash = location.hash.slice(1);
  if (hash && !hash.includes("=")) {
    const place = document.getElementById(hash);
    if (place?.closest("[hidden]")) {
      form.reset();
      show();
      place.scrollIntoView();
    }
    return;
  }
  const state = new URLSearchParams(hash);
  for (const box of boxes) box.checked = state.getAll(box.name).includes(box.value);
  form.elements.q.value = state.get("q") ?? "";
  show();
}

form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("input", () => {
  show();
  remember();
});
form.querySelector("button").addEventListener("click", () => {
  form.reset();
  show();
  remember();
});
addEventListener("hashchange", read);
form.hidden = false;
show();
read();
