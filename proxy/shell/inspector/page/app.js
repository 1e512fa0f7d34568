// The page: which view is seen, who may look, and the keys that work everywhere.

import { Backends } from "./backends.js";
import { fill, h } from "./dom.js";
import { clock } from "./format.js";
import { List } from "./list.js";
import { key, Refused, Requests } from "./proxy.js";
import { Talks } from "./talks.js";
import { Tenants } from "./tenants.js";
import * as theme from "./theme.js";

const KEYS = [
  ["↑ ↓ or k j", "the request above, below"],
  ["Enter", "open the request"],
  ["← →", "the part of the request before, after"],
  ["/", "search"],
  ["Esc", "close, or clear the search"],
  ["1 2 3 4", "requests, conversations, backends, tenants"],
  ["p", "pause, and go on"],
  ["t", "dark or light"],
  ["?", "these keys"],
];

theme.restore();
const main = document.getElementById("main");
const standing = document.getElementById("standing");
const requests = new Requests(show, failed);
const views = [
  { name: "requests", title: "Requests", view: new List(requests) },
  { name: "conversations", title: "Conversations", view: new Talks(requests) },
  { name: "backends", title: "Backends", view: new Backends(requests) },
  { name: "tenants", title: "Tenants", view: new Tenants(requests) },
];
let current = null;

function route() {
  const [, name = "requests", ...rest] = location.hash.split("/").map(decodeURIComponent);
  const row = views.find((view) => view.name === name) ?? views[0];
  if (row !== current) {
    current = row;
    fill(main, row.view.element);
    document.title = `${row.title} · Inspector`;
    links();
  }
  row.view.open(...rest);
}

function links() {
  const made = views.map(({ name, title }) =>
    h("a", { href: `#/${name}`, "aria-current": current.name === name ? "page" : null }, title),
  );
  fill(document.getElementById("views"), made);
}

function show(news) {
  const asked = Object.entries(requests.workers);
  const mute = asked.filter(([, there]) => !there).map(([number]) => number);
  const live = requests.list.filter((request) => request.live).length;
  const workers = asked.length > 1 ? ` · ${asked.length - mute.length} of ${asked.length} workers` : "";
  standing.className = requests.paused ? "standing paused" : "standing";
  fill(
    standing,
    requests.paused ? "paused: press p to go on" : `${live} live · ${requests.byId.size} kept${workers}`,
    mute.length ? h("span", { class: "warn" }, ` · worker ${mute.join(", ")} does not answer`) : null,
    begunAnew(asked.length > 1),
  );
  current?.view.update(news);
}

function begunAnew(several) {
  const anew = Object.entries(requests.lives).filter(([number, { at }]) => at && requests.workers[number]);
  return anew.map(([number, { at, gone }]) => {
    const lost = gone ? `, without the ${gone} request${gone > 1 ? "s" : ""} it had` : "";
    return h("span", { class: "warn" }, ` · ${several ? `worker ${number}` : "the proxy"} began anew at ${clock(at)}${lost}`);
  });
}

function failed(problem) {
  standing.className = "standing down";
  fill(standing, "the proxy does not answer");
  if (problem instanceof Refused && (problem.status === 401 || problem.status === 403)) door(problem);
}

function door(problem) {
  const input = h("input", { type: "password", id: "key", autocomplete: "off", spellcheck: "false" });
  const enter = (event) => {
    event.preventDefault();
    key.set(input.value.trim());
    current = null;
    route();
    requests.look();
  };
  const form = h(
    "form",
    { class: "door", onsubmit: enter },
    h("h2", {}, "This proxy shows its requests to those who have a key"),
    problem.status === 403 ? h("p", {}, problem.message) : key.get() ? h("p", { class: "remark" }, "This key is none of them.") : null,
    problem.status === 401
      ? [
          h("label", { for: "key" }, "Key of the inspector"),
          h("div", { class: "row" }, input, h("button", { type: "submit" }, "Look")),
          h("p", { class: "quiet" }, "It stays in this tab, and is forgotten with it."),
        ]
      : null,
  );
  standing.className = "standing";
  fill(standing, "");
  fill(main, form);
  input.focus();
}

function help() {
  const dialog = h(
    "dialog",
    { class: "keys", "aria-label": "Keys" },
    h("h2", {}, "Keys"),
    h("dl", {}, KEYS.map(([name, what]) => [h("dt", {}, h("kbd", {}, name)), h("dd", {}, what)])),
    h("form", {}, h("button", { type: "button", onclick: () => dialog.close() }, "Close")),
  );
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

function pause() {
  requests.paused = !requests.paused;
  show(true);
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  const typing = event.target instanceof HTMLElement && event.target.matches("input, select, textarea");
  if (current?.view.key?.(event, typing)) {
    event.preventDefault();
    return;
  }
  if (typing) return;
  const number = Number(event.key);
  if (number >= 1 && number <= views.length) location.hash = `#/${views[number - 1].name}`;
  else if (event.key === "t") theme.change();
  else if (event.key === "p") pause();
  else if (event.key === "?") help();
  else return;
  event.preventDefault();
});

document.getElementById("theme").addEventListener("click", theme.change);
document.getElementById("help").addEventListener("click", help);
window.addEventListener("hashchange", route);
route();
requests.look();
