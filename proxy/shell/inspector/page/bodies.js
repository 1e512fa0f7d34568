// The client's request beside the backend's, line by line, with what became of each value.

import { fill, h } from "./dom.js";

const WORDS = {
  client: { same: "the same", moved: "elsewhere", changed: "changed", alone: "left out" },
  backend: { same: "the same", moved: "from elsewhere", changed: "changed", alone: "added" },
};
const SIGNS = { same: "", moved: "↔", changed: "≠", alone: "" };
const ONLY = { client: "−", backend: "+" };
const LONG = 400;

export class Bodies {
  constructor() {
    this._differences = false;
    this.element = h("div", { class: "bodies" });
  }

  show(content) {
    this._content = content;
    const { client, backend } = content.bodies;
    const both = client !== null && backend !== null;
    const toggle = h("label", { class: "check" },
      h("input", { type: "checkbox", checked: this._differences, onchange: (event) => {
        this._differences = event.target.checked;
        this.element.classList.toggle("differences", this._differences);
      } }), " Differences only");
    this.element.classList.toggle("differences", this._differences && both);
    fill(
      this.element,
      both ? h("p", { class: "legend" }, legend(), toggle) : null,
      h("div", { class: "pair" }, this._side("client", client, "The client's request"), this._side("backend", backend, "The backend's request")),
      headers(content.headers),
    );
    return this.element;
  }

  _side(side, document, title) {
    if (document === null) {
      const why = side === "backend" && this._content.attempt < 0 ? "No backend was asked." : "It is not kept.";
      return h("section", { class: "body", "aria-label": title }, h("h3", {}, title), h("p", { class: "quiet" }, why));
    }
    const counts = tally(document);
    const told = Object.entries(counts).map(([mark, number]) => `${number} ${WORDS[side][mark]}`).join(", ");
    return h("section", { class: "body", "aria-label": title },
      h("h3", {}, title, h("span", { class: "quiet" }, told ? ` ${told}` : "")),
      h("div", { class: "lines", id: `lines-${side}` },
        document.lines.map((line, number) => this._line(side, line, number)),
        document.cut ? h("p", { class: "remark" }, "It is longer than what is shown.") : null));
  }

  _line(side, line, number) {
    const sign = line.mark === "alone" ? ONLY[side] : SIGNS[line.mark] ?? "";
    const words = line.mark ? WORDS[side][line.mark] : null;
    const long = line.text.length > LONG;
    const value = h("span", { class: "value" }, long ? `${line.text.slice(0, LONG)}…` : line.text);
    const more = long ? h("button", { type: "button", class: "more", onclick: (event) => {
      event.stopPropagation();
      fill(value, line.text);
      more.remove();
    } }, `${line.text.length - LONG} more`) : null;
    const partner = line.partner !== null;
    return h("div", {
      class: `line ${line.mark ?? "frame"}`, id: `${side}-${number}`, "--depth": line.depth,
      title: words, tabindex: partner ? "-1" : null, onclick: partner ? () => this._meet(side, number, line.partner) : null,
    }, h("span", { class: "sign", "aria-hidden": "true" }, sign), words && line.mark !== "same" ? h("span", { class: "unseen" }, words) : null,
    h("span", { class: "code" }, line.key ? h("span", { class: "key" }, `${line.key}: `) : null, value, more));
  }

  /** Shows both places of a value. */
  _meet(side, number, partner) {
    const other = side === "client" ? "backend" : "client";
    for (const met of this.element.querySelectorAll(".met")) met.classList.remove("met");
    document.getElementById(`${side}-${number}`).classList.add("met");
    const found = document.getElementById(`${other}-${partner}`);
    found.classList.add("met");
    found.scrollIntoView({ block: "nearest" });
  }
}

function tally(document) {
  const counts = {};
  for (const { mark } of document.lines) if (mark) counts[mark] = (counts[mark] ?? 0) + 1;
  return counts;
}

function legend() {
  const entries = [["moved", "↔ the same value elsewhere"], ["changed", "≠ another value"], ["alone", "− left out, + added"]];
  return entries.map(([mark, words]) => h("span", { class: `entry ${mark}` }, words));
}

function headers({ client, backend, answer }) {
  const table = (title, values) => {
    const rows = Object.entries(values);
    return rows.length ? h("section", {}, h("h3", {}, title), h("div", { class: "wide" }, h("table", { class: "headers" }, h("tbody", {},
      rows.map(([name, value]) => h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, value))))))) : null;
  };
  return h("details", { class: "allheaders" }, h("summary", {}, "Headers"),
    table("From the client", client), table("To the backend", backend), table("The backend's answer", answer));
}
