// Conversations and stored responses as a tree: which response continues which, as far as they are known here, and what
// the store has of those that are not.

import { fill, h } from "./dom.js";
import { clock, count, outcome, seconds } from "./format.js";
import { ask } from "./proxy.js";

export class Talks {
  constructor(requests) {
    this._requests = requests;
    this._found = h("div", { class: "found", role: "status" });
    this._tree = h("div", {});
    this._told = "";
    this._id = h("input", { id: "stored", type: "search", spellcheck: "false", placeholder: "resp_… or conv_…" });
    this._tenant = h("select", { name: "tenant", "aria-label": "Tenant" });
    this.element = h("div", { class: "page" }, h("h2", {}, "Conversations and stored responses"),
      h("form", { class: "row", onsubmit: (event) => { event.preventDefault(); this._look(this._id.value.trim(), this._tenant.value); } },
        h("label", { for: "stored" }, "Look into the store"), this._id, this._tenant, h("button", { type: "submit" }, "Look")),
      this._found, this._tree);
  }

  open() {
    this.update();
  }

  update() {
    const list = this._requests.list;
    const made = trees(list);
    const told = JSON.stringify(made);
    if (told === this._told && this._tree.firstChild) return;
    this._told = told;
    const tenants = [...new Set(list.map((request) => request.tenant).filter(Boolean))].sort();
    if (this._tenant.dataset.values !== tenants.join()) {
      this._tenant.dataset.values = tenants.join();
      fill(this._tenant, tenants.map((name) => h("option", { value: name }, name)));
    }
    this._tenant.hidden = tenants.length < 2;
    fill(this._tree, made.length ? made.map((root) => this._talk(root))
      : h("p", { class: "quiet" }, "No request here belongs to a conversation or has a stored response."));
  }

  _talk(root) {
    const look = h("button", { type: "button", class: "plain", onclick: () => this._look(root.title, root.tenant) }, "Look into the store");
    return h("section", { class: "talk" }, h("h3", {}, h("code", {}, root.title), look,
      h("span", { class: "quiet" }, ` ${root.size} ${root.size === 1 ? "response" : "responses"}`)), branch(root.children));
  }

  async _look(id, tenant) {
    if (!id) return;
    try {
      fill(this._found, stored(await ask("stored", { id, tenant })));
    } catch (problem) {
      fill(this._found, h("p", { class: "remark" }, problem.message));
    }
  }
}

/** The forest: a tree for each conversation, and for each first response of a chain that is in none. */
function trees(list) {
  const nodes = new Map();
  for (const request of [...list].reverse()) if (isKept(request)) nodes.set(request.response_id, { request, children: [] });
  const roots = new Map();
  const root = (title, tenant) => {
    if (!roots.has(title)) roots.set(title, { title, tenant, children: [], size: 0 });
    return roots.get(title);
  };
  for (const [id, node] of nodes) {
    const { conversation, continues, tenant } = node.request;
    const parent = continues && nodes.get(continues);
    if (parent && parent !== node) parent.children.push(node);
    else if (conversation) root(conversation, tenant).children.push(node);
    else if (continues) root(continues, tenant).children.push(node);
    else root(id, tenant).children.push(node);
  }
  const found = [...roots.values()];
  for (const each of found) each.size = size(each.children);
  return found.reverse();
}

/** An answer that is not stored has an id, too: it is here only as the continuation of another. */
function isKept(request) {
  return request.response_id && (request.stored || request.conversation || request.continues);
}

function size(children) {
  let sum = 0;
  const stack = [...children];
  while (stack.length) {
    const node = stack.pop();
    sum += 1;
    stack.push(...node.children);
  }
  return sum;
}

const DEEPEST = 40;

/** One that goes on straight stays at its depth: only forks go deeper. */
function branch(children, depth = 0) {
  if (!children.length) return null;
  const rows = [];
  for (const child of children) {
    let node = child;
    rows.push(leaf(node));
    while (node.children.length === 1) {
      [node] = node.children;
      rows.push(leaf(node));
    }
    if (node.children.length) rows.push(h("li", {}, depth < DEEPEST ? branch(node.children, depth + 1) : "…"));
  }
  return h("ul", { class: "tree" }, rows);
}

function leaf({ request }) {
  const became = outcome(request);
  const kind = became === "live" ? "live" : became === "failed" || became === "left" ? "bad" : request.worst ?? "good";
  return h("li", {}, h("a", { href: `#/requests/${encodeURIComponent(request.id)}` },
    h("span", { class: `dot ${kind}`, "aria-hidden": "true" }), h("time", {}, clock(request.began)), " ", h("code", {}, request.response_id)),
  h("span", { class: "quiet" }, ` ${request.model ?? ""} · ${became} · ${seconds(request.seconds)}`
    + (request.calls ? ` · ${count(request.calls)} ${request.calls === 1 ? "call" : "calls"}` : "")));
}

function stored({ id, kind, entries, more }) {
  return h("section", { class: "talk" }, h("h3", {}, h("code", {}, id), h("span", { class: "quiet" }, ` ${kind}, in the store`)),
    h("ol", { class: "tree" }, entries.map((entry) => h("li", {}, h("code", {}, entry.id), h("span", { class: "quiet" },
      ` ${[entry.what, entry.status, entry.created && clock(entry.created)].filter(Boolean).join(" · ")}`),
    entry.text ? h("pre", { class: "prose" }, entry.text) : null))),
    more ? h("p", { class: "remark" }, "There is more than is shown.") : null);
}
