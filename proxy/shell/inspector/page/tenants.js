// The tenants, and what is left of their limits.

import { fill, h } from "./dom.js";
import { count, seconds } from "./format.js";
import { Standing } from "./proxy.js";

const UNITS = { requests: "requests", "tool-calls": "tool calls" };

export class Tenants extends Standing {
  constructor(requests) {
    super();
    this._requests = requests;
    this.element = h("div", { class: "page" });
  }

  _draw(workers, shared) {
    const all = this._requests.list;
    const rows = workers[0]?.tenants ?? [];
    fill(this.element, h("h2", {}, "Tenants"),
      workers.length > 1 && !shared ? h("p", { class: "remark" }, `Each of the ${workers.length} workers counts for itself; these are the numbers of the first.`) : null,
      h("div", { class: "wide" }, h("table", { class: "tenants" },
        h("thead", {}, h("tr", {}, ["Tenant", "Requests kept here", "Tokens in, out", "What is left of a minute"].map((title) => h("th", { scope: "col" }, title)))),
        h("tbody", {}, rows.map((tenant) => {
          const mine = all.filter((request) => request.tenant === tenant.name);
          const sum = (name) => mine.reduce((total, request) => total + (request[name] ?? 0), 0);
          return h("tr", {}, h("th", { scope: "row" }, tenant.name), h("td", { class: "number" }, mine.length),
            h("td", { class: "number" }, `${count(sum("input_tokens"))} → ${count(sum("output_tokens"))}`),
            h("td", {}, tenant.limits.length ? tenant.limits.map(limit) : h("span", { class: "quiet" }, "no limits")));
        })))));
  }
}

function limit({ unit, most, left, full_in: full }) {
  const words = `${left} of ${most} ${UNITS[unit] ?? unit}`;
  return h("div", { class: "limit" },
    h("div", { class: left ? "meter" : "meter empty", role: "img", "aria-label": words }, h("span", { "--size": `${(100 * left) / most}%` })),
    h("span", {}, words), full > 0 ? h("span", { class: "quiet" }, ` full in ${seconds(full)}`) : null);
}
