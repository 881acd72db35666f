// Search in an exported page: lines that hold every word, those with whole words first.
"use strict";
const plain = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
const lines = [...document.querySelectorAll(".note .lines li")].map((item) => ({ item, text: plain(item.textContent) }));
const MOST = 50;
function search(query) {
  const words = plain(query).split(/[^\p{L}\p{N}]+/u).filter(Boolean);
  const found = [];
  for (const { item, text } of words.length ? lines : []) {
    if (!words.every((word) => text.includes(word))) continue;
    const tokens = new Set(text.split(/[^\p{L}\p{N}]+/u));
    found.push({ item, score: words.filter((word) => tokens.has(word)).length });
  }
  found.sort((one, other) => other.score - one.score);
  document.getElementById("results").replaceChildren(...found.slice(0, MOST).map(({ item }) => show(item)));
  document.getElementById("notes").hidden = words.length > 0;
  document.getElementById("count").textContent = words.length ? `${found.length} lines${found.length > MOST ? `, the first ${MOST}` : ""}` : "";
}
function show(item) {
  const note = item.closest(".note"), hit = document.createElement("li"), link = document.createElement("a"), list = document.createElement("ol");
  link.className = "citation";
  link.href = `#${encodeURIComponent(note.id)}`;
  link.textContent = `${note.id}#L${item.value}`;
  link.addEventListener("click", (event) => {
    event.preventDefault();
    document.getElementById("q").value = "";
    search("");
    note.open = true;
    item.classList.add("here");
    item.scrollIntoView({ block: "center" });
  });
  list.className = "lines";
  list.append(item.cloneNode(true));
  hit.className = "hit";
  hit.append(link, list);
  return hit;
}
document.getElementById("q").addEventListener("input", (event) => search(event.target.value));
document.querySelector("form").addEventListener("submit", (event) => event.preventDefault());
