// What the model wrote, as the backend sent it, beside what the client got: markup beside the calls that it became.

import { h } from "./dom.js";
import { pretty } from "./format.js";

const LEAKS = ["undeclared", "capped", "unread"];

export function said(content, request) {
  const { model, client, pieces } = content.said;
  const taken = pieces.filter(([text, kept]) => !kept && text.trim()).length;
  const leaked = Object.keys(request.markup).some((name) => LEAKS.includes(name.split(":")[0]));
  const remark = !model ? "No backend was asked."
    : leaked ? "Something that looks like a tool call has stayed in the text: the client got it as text."
      : taken ? `${taken === 1 ? "One piece" : `${taken} pieces`} of the model's text did not reach the client as text: marked in what it wrote.`
        : client.text !== model.text ? "The client's text differs from the model's."
          : model.text ? "The client got the model's text as it is."
            : request.live ? "The model has written no text so far." : "The model wrote no text.";
  return [
    h("p", { class: leaked ? "remark leak" : "remark" }, remark),
    h("div", { class: "pair" },
      h("section", { "aria-label": "As the model wrote it" }, h("h3", {}, "As the model wrote it"),
        model ? [thoughts(model), h("pre", { class: "prose" }, marked(pieces)), calls(model)] : null),
      h("section", { "aria-label": "As the client got it" }, h("h3", {}, "As the client got it"),
        thoughts(client), h("pre", { class: "prose" }, client.text || empty(request)), calls(client))),
  ];
}

const empty = (request) => h("span", { class: "quiet" }, request.live ? "nothing so far" : "no text");

function marked(pieces) {
  if (!pieces.length) return h("span", { class: "quiet" }, "no text");
  return pieces.map(([text, kept]) => (kept || !text.trim() ? text : h("mark", { title: "Not sent as text" }, text)));
}

function thoughts({ thoughts: text }) {
  return text ? h("details", { class: "thoughts" }, h("summary", {}, `Thoughts, ${text.length} characters`), h("pre", { class: "prose" }, text)) : null;
}

function calls({ calls: made }) {
  if (!made.length) return null;
  return h("ul", { class: "calls" }, made.map(({ name, arguments: text }) =>
    h("li", {}, h("p", {}, h("span", { class: "tag" }, "call"), " ", h("code", {}, name || "without a name")), h("pre", {}, pretty(text)))));
}
