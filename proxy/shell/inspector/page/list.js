// The list of requests, newest first, what to filter it by, and beside it the one that is open.

import { Detail } from "./detail.js";
import { fill, h } from "./dom.js";
import { clock, count, firstText, outcome, quantile, seconds } from "./format.js";
import { bar } from "./timeline.js";

const MOST_ROWS = 400;
const FILTERS = [
  ["model", "Model", (request) => request.model],
  ["backend", "Backend", (request) => request.backend],
  ["tenant", "Tenant", (request) => request.tenant],
  ["surface", "Surface", (request) => request.surface ?? request.path],
  ["outcome", "Ending", outcome],
  ["worst", "Stands out", (request) => request.worst && WORST[request.worst]],
];
const WORST = { bad: "wrong", slow: "slow", odd: "strange", note: "left something out" };
const COLUMNS = [
  ["Time", "time"],
  ["Model", "model"],
  ["Backend", "backend"],
  ["Ending", "ending"],
  ["Tokens", "number"],
  ["First text", "number"],
  ["Total", "number"],
  ["Where its time went", "path"],
];

export class List {
  constructor(requests) {
    this._requests = requests;
    this._rows = new Map();
    this._chosen = {};
    this._words = "";
    this._shown = [];
    this._open = null;
    this._last = null;  // the one that is open, or was: the keys go on from it
    this._detail = new Detail(requests);
    this._search = h("input", {
      type: "search",
      id: "search",
      placeholder: "Search  /",
      "aria-label": "Search in the requests",
      spellcheck: "false",
      oninput: () => this._filter(() => (this._words = this._search.value)),
    });
    this._selects = FILTERS.map(([name, title]) =>
      h("select", {
        "aria-label": title,
        name,
        onchange: (event) => this._filter(() => (this._chosen[name] = event.target.value)),
      }),
    );
    this._count = h("span", { class: "quiet", role: "status" });
    this._body = h("tbody");
    this._empty = h("div", { class: "empty" });
    this._table = h(
      "table",
      { class: "requests" },
      h("caption", { class: "unseen" }, "Requests, newest first"),
      h("thead", {}, h("tr", {}, COLUMNS.map(([title, kind]) => h("th", { class: kind, scope: "col" }, title)))),
      this._body,
    );
    this._left = h("section", { class: "left", "aria-label": "Requests" },
      h("div", { class: "filters" }, this._search, this._selects, this._count), this._table, this._empty);
    this.element = h("div", { class: "split" }, this._left, this._detail.element);
  }

  open(id, part) {
    this._open = id ?? null;
    this._last = this._open ?? this._last;
    this.element.classList.toggle("opened", this._open !== null);
    this._detail.show(this._open, part);
    this._mark();
  }

  _filter(change) {
    change();
    this._last = this._open;
    this.update(true);
  }

  update(news) {
    if (!news && this._shown.length) return this._detail.update();
    const all = this._requests.list;
    this._choices(all);
    this._shown = all.filter((request) => this._fits(request)).slice(0, MOST_ROWS);
    const longest = quantile(this._shown.map((request) => request.seconds), 0.9) ?? 1;
    const rows = this._shown.map((request) => this._row(request, longest));
    if (rows.length !== this._body.children.length || rows.some((row, at) => row !== this._body.children[at])) {
      const focused = document.activeElement;
      this._body.replaceChildren(...rows);
      if (focused && focused !== document.activeElement && this._body.contains(focused)) focused.focus();
    }
    for (const id of this._rows.keys()) if (!this._requests.byId.has(id)) this._rows.delete(id);
    const many = `${all.length} ${all.length === 1 ? "request" : "requests"}`;
    fill(this._count, this._shown.length === all.length ? many : `${this._shown.length} of ${many}`);
    this._table.hidden = !all.length;
    fill(this._empty, all.length ? null : this._nothing());
    this._mark();
    this._detail.update();
  }

  _nothing() {
    return [
      h("h2", {}, "No request yet"),
      h("p", {}, "Point a client at this proxy. Each request appears here while it runs:"),
      h("pre", {}, `curl ${location.origin}/v1/responses \\\n  -H 'Content-Type: application/json' \\\n  -d '{"model": "demo", "input": "Hello"}'`),
    ];
  }

  _choices(all) {
    FILTERS.forEach(([name, title, of], at) => {
      const values = [...new Set(all.map(of).filter(Boolean))].sort();
      const select = this._selects[at];
      const told = JSON.stringify(values);
      if (select.dataset.values === told) return;
      select.dataset.values = told;
      const chosen = values.includes(this._chosen[name]) ? this._chosen[name] : "";
      this._chosen[name] = chosen;
      fill(select, h("option", { value: "" }, title),
        values.map((value) => h("option", { value, selected: value === chosen }, value)));
      select.hidden = values.length < 2 && !chosen;
    });
  }

  _fits(request) {
    for (const [name, , of] of FILTERS) if (this._chosen[name] && of(request) !== this._chosen[name]) return false;
    const words = this._words.toLowerCase().split(/\s+/).filter(Boolean);
    if (!words.length) return true;
    const text = JSON.stringify(request).toLowerCase();
    return words.every((word) => text.includes(word));
  }

  _row(request, longest) {
    const told = JSON.stringify([request, longest]);
    const kept = this._rows.get(request.id);
    if (kept?.told === told) return kept.row;
    const cells = [
      clock(request.began),
      h("a", { href: `#/requests/${encodeURIComponent(request.id)}`, tabindex: "-1" }, request.model ?? request.path),
      request.attempts.length > 1 ? `${request.backend} · ${request.attempts.length} attempts` : request.backend ?? "–",
      ending(request),
      request.output_tokens === undefined ? "–" : `${count(request.input_tokens)} → ${count(request.output_tokens)}`,
      seconds(firstText(request)),
      seconds(request.seconds),
      bar(request, longest),
    ].map((value, at) => h("td", { class: COLUMNS[at][1], "data-title": COLUMNS[at][0] }, value));
    const row = kept?.row ?? h("tr", { "data-id": request.id, onclick: () => this._go(request.id) });
    row.replaceChildren(...cells);
    this._rows.set(request.id, { told, row });
    return row;
  }

  _mark() {
    for (const [id, { row }] of this._rows) {
      row.classList.toggle("selected", id === this._open);
      row.setAttribute("aria-selected", String(id === this._open));
    }
    const reached = (this._shown.find((request) => request.id === this._last) ?? this._shown[0])?.id;
    for (const [id, { row }] of this._rows) row.querySelector("a").tabIndex = id === reached ? 0 : -1;
  }

  _go(id) {
    const part = id === null ? null : this._detail.part;
    this.open(id, part ?? undefined);  // the next key may come before the address has changed
    location.hash = id === null ? "#/requests" : `#/requests/${encodeURIComponent(id)}${part ? `/${part}` : ""}`;
  }

  key(event, typing) {
    if (event.key === "Escape") return this._escape(typing);
    if (typing) {
      if (event.target !== this._search || !["ArrowDown", "Enter"].includes(event.key)) return false;
      this._search.blur();
      return this._step(0);
    }
    if (event.key === "/") {
      this._search.focus();
      this._search.select();
      return true;
    }
    if (event.key === "ArrowDown" || event.key === "j") return this._step(1);
    if (event.key === "ArrowUp" || event.key === "k") return this._step(-1);
    return this._open !== null && this._detail.key(event);
  }

  _escape(typing) {
    if (typing && this._search.value) {
      this._search.value = this._words = "";
      this.update(true);
    } else if (typing) this._search.blur();
    else if (this._open !== null) this._go(null);
    else return false;
    return true;
  }

  _step(by) {
    if (!this._shown.length) return true;
    const now = this._shown.findIndex((request) => request.id === this._last);
    const at = now < 0 ? 0 : Math.min(Math.max(now + by, 0), this._shown.length - 1);
    const { id } = this._shown[at];
    this._go(id);
    const row = this._rows.get(id).row;
    row.scrollIntoView({ block: "nearest" });
    row.querySelector("a").focus({ preventScroll: true });
    return true;
  }
}

function ending(request) {
  const became = outcome(request);
  const failed = became === "failed" || became === "left";
  const kind = became === "live" ? "live" : failed ? "bad" : request.worst ?? "good";
  const what = failed && request.code ? request.code.replaceAll("_", " ") : became;
  const calls = counted(request.markup, "recovered");
  const left = counted(request.markup, "undeclared");
  const word = calls || left || kind === "bad" ? null : WORST[kind];  // a colour alone tells not everybody
  return [
    h("span", { class: `dot ${kind}`, "aria-hidden": "true" }),
    h("span", { class: "what" }, what),
    request.status >= 400 ? h("span", { class: "quiet" }, ` ${request.status}`) : null,
    calls ? h("span", { class: "tag", title: "Calls that the model wrote as text" }, `${calls} mended`) : null,
    left ? h("span", { class: "tag", title: "What looks like a call, of no tool of the request" }, `${left} left in the text`) : null,
    word ? h("span", { class: "tag" }, word) : null,
  ];
}

function counted(markup, what) {
  return Object.entries(markup).reduce((sum, [name, times]) => (name.startsWith(what) ? sum + times : sum), 0);
}
