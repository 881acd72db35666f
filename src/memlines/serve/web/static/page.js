// The one script of the page. Everything works without it, except for answers while you type and the keys.
"use strict";
const find = (selector, within = document) => within.querySelector(selector);
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const notice = (text) => { const place = find("#notice"); place.textContent = text; place.hidden = !text; };
const GONE = "The program behind this page has ended. Start it again: memlines web. What you typed is still here.";

// Themes: light, dark, or as the system says; chosen before anything is drawn.
const THEMES = ["auto", "light", "dark"];
const storedTheme = () => THEMES.includes(localStorage.getItem("theme")) ? localStorage.getItem("theme") : "auto";
function showTheme() {
  const name = storedTheme();
  if (name === "auto") delete document.documentElement.dataset.theme; else document.documentElement.dataset.theme = name;
  if (find("#theme")) find("#theme").textContent = `Theme: ${name}`;
}
showTheme();

// Search as you type: the newest answer wins, and the address says what is shown.
let asking = null, waiting = 0;
async function search(form) {
  const values = new URLSearchParams([...new FormData(form)].filter(([, value]) => value));
  history.replaceState(null, "", values.size ? `/?${values}` : "/");
  if (!values.has("q") && !find("#recent")) { location.reload(); return; }
  asking?.abort();
  asking = new AbortController();
  values.set("part", "1");
  try {
    const reply = await fetch(`/?${values}`, { signal: asking.signal });
    const html = await reply.text();
    const page = new DOMParser().parseFromString(html, "text/html");
    find("#results").replaceChildren(...(find("#main", page) ?? page.body).childNodes);
    const recent = find("#recent");
    if (recent) recent.hidden = values.has("q");
    notice("");
  } catch (error) {
    if (error.name !== "AbortError") notice(GONE);
  }
}

// What takes long to find out comes when the page is there.
async function load(place) {
  try {
    const page = new DOMParser().parseFromString(await (await fetch(`${place.dataset.load}&part=1`)).text(), "text/html");
    place.replaceChildren(...(find("#main", page) ?? page.body).childNodes);
  } catch { notice(GONE); }
}

// Keys
let before = "";
function press(event) {
  const typing = event.target.closest("input, textarea, select");
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    if (typing && typing.id !== "q") return;
    const rows = all("[data-row]").filter((row) => row.offsetParent);
    const next = rows.indexOf(document.activeElement) + (event.key === "ArrowDown" ? 1 : -1);
    if (next < 0) find("#q")?.focus(); else rows[next]?.focus();
    if (rows.length) event.preventDefault();
    return;
  }
  if (typing || find("dialog[open]")) return;
  const keys = { "/": () => find("#q") ? find("#q").select() : location.assign("/"), "?": () => find("#keys").showModal(),
    e: edit, n: () => location.assign("/remember"), u: () => location.assign("/undo") };
  if (before === "g") find(`nav [data-key="${CSS.escape(event.key)}"]`)?.click();
  else if (keys[event.key]) { event.preventDefault(); keys[event.key](); }
  before = event.key;
}
function edit() {
  const row = document.activeElement.closest("[data-row]") ?? find("[data-edit]");
  const address = row && new URL(row.href);
  if (address?.pathname.startsWith("/note/")) { address.searchParams.set("edit", "1"); location.assign(address); }
}

// Forms: nothing that was typed is lost if the program has ended, and leaving a changed text asks first.
async function submit(event) {
  const form = event.target, button = event.submitter;
  if (form.method !== "post" || form.dataset.sure) return;
  event.preventDefault();
  try { await fetch("/static/icon.svg", { cache: "no-store" }); } catch { notice(GONE); return; }
  form.dataset.sure = "yes";
  form.requestSubmit(button);
  delete form.dataset.sure;
}

// The map: a click asks for the passages near that place.
async function pick(event) {
  const box = event.currentTarget.getBoundingClientRect();
  const at = (part, size) => Math.max(0, Math.round(part * (size + 24) - 12));
  const values = new URLSearchParams(location.search);
  values.set("x", at((event.clientX - box.left) / box.width, 1000));
  values.set("y", at((event.clientY - box.top) / box.height, 560));
  values.set("part", "1");
  try {
    const page = new DOMParser().parseFromString(await (await fetch(`/map?${values}`)).text(), "text/html");
    find("#near").replaceChildren(...page.body.childNodes);
  } catch { notice(GONE); }
}

// Live progress of the vectors
function listen(place) {
  const events = new EventSource("/events");
  events.onmessage = (event) => {
    const said = JSON.parse(event.data);
    find("progress", place).max = Math.max(1, said.chunks);
    find("progress", place).value = said.chunks - said.pending;
    find("output", place).textContent = said.text;
    if (!said.pending) events.close();
  };
  events.onerror = () => { if (events.readyState === EventSource.CLOSED) notice(GONE); };
}

document.addEventListener("DOMContentLoaded", () => {
  document.addEventListener("keydown", press);
  document.addEventListener("submit", submit);
  for (const name of ["theme", "help"]) if (find(`#${name}`)) find(`#${name}`).hidden = false;
  showTheme();
  find("#theme")?.addEventListener("click", () => {
    localStorage.setItem("theme", THEMES[(THEMES.indexOf(storedTheme()) + 1) % THEMES.length]);
    showTheme();
  });
  find("#help")?.addEventListener("click", () => find("#keys").showModal());
  const form = find("#search");
  form?.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(() => search(form), 40); });
  all("[data-load]").forEach(load);
  find("#map")?.addEventListener("click", pick);
  if (find("#live")) listen(find("#live"));
  const slider = find("#as-of");
  slider?.addEventListener("input", () => { find("#as-of-day").value = slider.dataset.days.split(" ")[slider.value]; });
  const text = find("textarea[data-guard]");
  if (text) {
    const first = text.dataset.guard === "unsaved" ? null : text.value;
    let leaving = false;
    text.form.addEventListener("submit", () => { leaving = Boolean(text.form.dataset.sure); });
    addEventListener("beforeunload", (event) => { if (!leaving && text.value !== first) event.preventDefault(); });
  }
});
