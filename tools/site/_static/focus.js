// What scrolls by itself can be reached and moved by the keyboard.
addEventListener("load", () => {
  for (const one of document.querySelectorAll(".bd-article math"))
    if (one.getBoundingClientRect().right > innerWidth) one.classList.add("wide");
  for (const one of document.querySelectorAll(".bd-article :is(p, table, math, .cell_output, .output)"))
    if (one.scrollWidth > one.clientWidth && getComputedStyle(one).overflowX === "auto") one.tabIndex = 0;
  // A figure opens alone, where a phone can enlarge it.
  for (const one of document.querySelectorAll(".bd-article :is(p, .output, p > picture) > img:not([width])"))
    one.addEventListener("click", () => location.assign(one.src));
});
