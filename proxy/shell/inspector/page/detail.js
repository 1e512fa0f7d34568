// One request: what stands out, how its time went, and what was said, as far as it is kept.

import { Bodies } from "./bodies.js";
import { fill, h } from "./dom.js";
import { Events } from "./events.js";
import { count, day, outcome, seconds, speed } from "./format.js";
import { ask } from "./proxy.js";
import { said } from "./said.js";
import { Timeline } from "./timeline.js";

const PARTS = [
  ["overview", "Overview"],
  ["requests", "Both requests"],
  ["events", "Events"],
  ["text", "Text and calls"],
];
const LEVELS = { bad: "Wrong", slow: "Slow", odd: "Strange", note: "Note" };

export class Detail {
  constructor(requests) {
    this._requests = requests;
    this._id = null;
    this._told = "";
    this._asked = 0;
    this._attempt = -1;
    this._data = null;
    this._content = null;
    this._timeline = new Timeline();
    this._bodies = new Bodies();
    this._events = new Events();
    this.part = "overview";
    this.element = h("section", { class: "right", "aria-label": "The request" });
  }

  show(id, part = "overview") {
    const other = id !== this._id;
    const before = this.part;
    this.part = PARTS.some(([name]) => name === part) ? part : "overview";
    this._id = id;
    if (other) {
      this._told = "";
      this._data = this._content = null;
      this._attempt = -1;
      fill(this.element);
      this.update();
    } else if (before !== this.part && this._data) this._draw();
  }

  /** Asks for the request again if it has changed. */
  async update() {
    if (this._id === null) return;
    const known = this._requests.byId.get(this._id);
    const told = JSON.stringify(known ?? this._id);
    if (told === this._told) return;
    this._told = told;
    const id = this._id;
    const asked = ++this._asked;
    try {
      const data = await ask("request", { id });
      const content = data.has_content ? await ask("content", { id, attempt: this._attempt }) : null;
      if (asked !== this._asked) return;
      this._data = data;
      this._content = content;
      this._draw();
    } catch (problem) {
      if (asked !== this._asked) return;
      fill(this.element, h("div", { class: "gone" }, h("h2", {}, "It is not here"), h("p", {}, problem.message), this._close()));
    }
  }

  key(event) {
    if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return false;
    const at = PARTS.findIndex(([name]) => name === this.part) + (event.key === "ArrowRight" ? 1 : -1);
    if (PARTS[at]) {
      this.show(this._id, PARTS[at][0]);  // the next key may come before the address has changed
      location.hash = this._link(PARTS[at][0]);
    }
    return true;
  }

  _link(part) {
    return `#/requests/${encodeURIComponent(this._id)}/${part}`;
  }

  _close() {
    return h("a", { class: "close", href: "#/requests", title: "Close (Esc)", "aria-label": "Close" }, "✕");
  }

  _draw() {
    const scrolled = this.element.scrollTop;
    const same = this.element.dataset.drawn === `${this._id}/${this.part}`;
    this.element.dataset.drawn = `${this._id}/${this.part}`;
    fill(this.element, this._head(), this._tabs(), h("div", { class: "part" }, this._part()));
    this.element.scrollTop = same ? scrolled : 0;
  }

  _head() {
    const request = this._data;
    const became = outcome(request);
    return h(
      "header",
      { class: "head" },
      this._close(),
      h("h2", {}, request.model ?? request.path, request.backend ? [h("span", { class: "quiet" }, " → "), request.backend] : null),
      h("p", { class: "quiet" }, [became, request.status && `HTTP ${request.status}`, seconds(request.seconds), day(request.began)]
        .filter(Boolean).join(" · ")),
    );
  }

  _tabs() {
    return h("nav", { class: "tabs", "aria-label": "Parts of the request" },
      PARTS.map(([name, title]) =>
        h("a", { href: this._link(name), "aria-current": name === this.part ? "true" : null }, title)));
  }

  _part() {
    if (this.part === "overview") return this._overview();
    const content = this._content;
    if (content === null) return this._hidden();
    const cut = content.cut
      ? h("p", { class: "remark" }, "Part of it is missing: it was more than is kept of one request.") : null;
    if (this.part === "requests") return [cut, this._which(), this._bodies.show(content)];
    if (this.part === "events") return [cut, this._which(), this._events.show(content, this._data)];
    return [cut, this._which(), said(content, this._data)];
  }

  _hidden() {
    return h("div", { class: "hidden" },
      h("h3", {}, this._data.kept_before ? "It is not kept any more" : "What was said is not kept"),
      h("p", {}, this._requests.settings.content ?? ""));
  }

  /** Which attempt is seen, where there are several. */
  _which() {
    const attempts = this._data.attempts;
    if (attempts.length < 2) return null;
    const choose = (event) => {
      this._attempt = Number(event.target.value);
      this._told = "";
      this.update();
    };
    return h("p", { class: "which" }, h("label", { for: "attempt" }, "Attempt "),
      h("select", { id: "attempt", onchange: choose }, attempts.map((attempt, at) =>
        h("option", { value: at, selected: at === this._content.attempt }, `${at + 1} · ${attempt.backend}`))));
  }

  _overview() {
    const request = this._data;
    this._timeline.show(request);
    return [
      findings(request),
      this._content?.faults.at(-1) ? h("blockquote", { class: "said" }, this._content.faults.at(-1)) : null,
      h("h3", {}, "Time"),
      this._timeline.element,
      this._content?.warnings.length
        ? [h("h3", {}, "Warnings that the client was sent"), h("ul", {}, this._content.warnings.map((words) => h("li", {}, words)))]
        : null,
      request.remarks.length ? counters(request.remarks) : null,
      h("h3", {}, "Facts"),
      facts(request),
    ];
  }
}

function findings(request) {
  if (!request.findings.length)
    return h("p", { class: "fine" }, request.live ? "Under way. Nothing stands out so far." : "Nothing stands out.");
  return h("ul", { class: "findings", "aria-label": "What stands out" },
    request.findings.map(({ level, what, advice }) =>
      h("li", { class: level }, h("span", { class: `level ${level}` }, LEVELS[level]),
        h("span", { class: "words" }, what, advice ? h("span", { class: "quiet" }, ` ${advice}`) : null))));
}

function counters(remarks) {
  return [
    h("h3", {}, "Counters"),
    h("div", { class: "wide" }, h("table", { class: "counters" },
      h("tbody", {}, remarks.map(({ kind, name, times, words }) =>
        h("tr", {}, h("td", { class: "quiet" }, kind), h("td", {}, h("code", {}, name)), h("td", { class: "number" }, times),
          h("td", {}, words)))))),
  ];
}

function facts(request) {
  const rate = speed(request);
  const tokens = request.input_tokens === undefined ? null
    : `${count(request.input_tokens)} in (${count(request.cached_tokens)} cached), ${count(request.output_tokens)} out`
      + ` (${count(request.reasoning_tokens)} thoughts)`;
  const attempt = request.attempts.at(-1);
  const rows = [
    ["Asked", `${request.method} ${request.path}${request.transport === "websocket" ? ", over a WebSocket" : ""}`],
    ["Tenant", request.tenant],
    ["Client", request.client],
    ["Stream", request.stream === undefined ? null : request.stream ? "yes" : "no"],
    ["Backend's model", request.backend_model],
    ["Profile", attempt && `${attempt.profile}, dialect ${attempt.dialect}`],
    ["Tokens", tokens],
    ["Speed", rate && `${rate.toFixed(1)} tokens per second`],
    ["Calls", request.calls],
    ["Sent to the client", request.bytes_out ? `${count(request.bytes_out)} bytes` : null],
    ["Warnings", request.warnings || null],
    ["Worker", request.id.split("-")[0]],
  ];
  const long = [
    ["Fault", request.fault && [request.fault, request.code, request.param, request.error].filter(Boolean).join(" · ")],
    ["Asked at", attempt?.url],
    ["Request", request.request_id],
    ["Response", request.response_id],
    ["Continues", request.continues],
    ["Conversation", request.conversation],
  ];
  const known = ([, value]) => value !== null && value !== undefined && value !== "";
  const row = (kind) => ([name, value]) => h("div", { class: kind }, h("dt", {}, name), h("dd", {}, value));
  return h("dl", { class: "facts" }, rows.filter(known).map(row(null)), long.filter(known).map(row("long")));
}
