/** Filters the list of the report. It reads the page and creates no markup. */
export const SCRIPT = `
"use strict";
const form = document.getElementById("filters");
const search = document.getElementById("search");
const shown = document.getElementById("shown");
const documents = [...document.querySelectorAll("details.doc")];
const groups = [...document.querySelectorAll("section.group")];
const texts = new Map();
const textOf = (one) => {
  if (!texts.has(one)) texts.set(one, one.textContent.toLowerCase());
  return texts.get(one);
};
const chosen = (name) => new Set([...form.elements].filter((one) => one.name === name && one.checked).map((one) => one.value));
function apply() {
  const verdicts = chosen("verdict");
  const severities = chosen("severity");
  const words = search.value.toLowerCase().split(/\\s+/).filter((word) => word !== "");
  for (const one of documents) {
    const { verdict, severity } = one.dataset;
    one.hidden = !(verdicts.has(verdict) && severities.has(severity) && words.every((word) => textOf(one).includes(word)));
  }
  for (const group of groups) {
    const members = [...group.querySelectorAll("details.doc")];
    const left = members.filter((one) => !one.hidden).length;
    group.querySelector(".count").textContent = left === members.length ? String(left) : left + " of " + members.length;
    group.hidden = members.length > 0 && left === 0;
  }
  const left = documents.filter((one) => !one.hidden).length;
  shown.textContent = left + " of " + documents.length + " documents.";
}
function reveal() {
  let id = location.hash.slice(1);
  try { id = decodeURIComponent(id); } catch { /* an address that cannot be decoded is taken as it stands */ }
  const place = id === "" ? null : document.getElementById(id);
  if (place === null) return;
  if (place.closest("details.doc[hidden]") !== null) { form.reset(); apply(); }
  for (let one = place; one !== null; one = one.parentElement) if (one.tagName === "DETAILS") one.open = true;
  const inner = place.querySelector(":scope > details");
  if (inner !== null) inner.open = true;
  place.scrollIntoView();
}
const openAll = (open) => { for (const one of documents) if (!one.hidden) one.open = open; };
form.addEventListener("input", apply);
form.addEventListener("reset", () => setTimeout(apply));
form.addEventListener("submit", (event) => event.preventDefault());
document.getElementById("open-all").addEventListener("click", () => openAll(true));
document.getElementById("close-all").addEventListener("click", () => openAll(false));
addEventListener("hashchange", reveal);
addEventListener("keydown", (event) => {
  if (event.key === "/" && !(event.target instanceof HTMLInputElement) && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    search.focus();
  } else if (event.key === "Escape" && event.target === search) {
    search.value = "";
    apply();
  }
});
form.hidden = false;
apply();
reveal();
`;
