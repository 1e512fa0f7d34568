// Both streams as they came: the backend's events and the client's, each with its time.

import { fill, h } from "./dom.js";
import { pretty, seconds } from "./format.js";

const MOST = 200;

export class Events {
  constructor() {
    this.element = h("div", { class: "streams" });
  }

  show(content, request) {
    const { client, backend } = content.events;
    const broke = request.attempts[content.attempt]?.fault?.fault === "Truncated";
    const refused = request.status >= 400 && request.status !== 499;  // 499: the client has left
    fill(this.element, stream("From the backend", backend, { broke, none: content.attempt < 0 ? "No backend was asked." : "Nothing came." }),
      stream("To the client", client, { answer: content.answer, none: refused ? `An error, with HTTP ${request.status}.` : "Nothing came." }));
    return this.element;
  }
}

/** `broke`: did it break off? `none`: words for a stream without events. */
function stream(title, told, { answer = null, broke = false, none }) {
  const rows = grouped(told.events);
  const list = h("ol", { class: "events" });
  const more = (from) => {
    list.append(...rows.slice(from, from + MOST).map(row));
    if (rows.length > from + MOST) {
      const button = h("button", { type: "button", class: "more", onclick: () => { button.remove(); more(from + MOST); } },
        `${rows.length - from - MOST} more`);
      list.append(button);
    }
  };
  more(0);
  return h("section", { class: "stream", "aria-label": title },
    h("h3", {}, title, h("span", { class: "quiet" }, ` ${told.events.length + told.left_out} events`)),
    list,
    answer ? h("details", { class: "event" }, h("summary", {}, "One whole answer, no stream"), h("pre", {}, JSON.stringify(answer, null, 2))) : null,
    told.left_out ? h("p", { class: "remark" }, `${told.left_out} more are not shown.`) : null,
    told.rest ? h("div", { class: "cutoff" }, h("p", {}, "Here the stream broke off, inside of an event:"), h("pre", {}, told.rest))
      : broke ? h("div", { class: "cutoff" }, h("p", {}, "Here the stream broke off, before its end.")) : null,
    !told.events.length && !answer && !told.rest ? h("p", { class: "quiet" }, none) : null);
}

/** Events of one kind in a row are one row. */
function grouped(events) {
  const rows = [];
  for (const [time, name, data] of events) {
    const kind = name || describe(data);
    const before = rows.at(-1);
    if (before && before.kind === kind) before.events.push([time, data]);
    else rows.push({ kind, events: [[time, data]] });
  }
  return rows;
}

function describe(data) {
  if (data.trim() === "[DONE]") return "[DONE]";
  let event;
  try {
    event = JSON.parse(data);
  } catch {
    return "no JSON";
  }
  if (event === null || typeof event !== "object") return "JSON";
  if (typeof event.type === "string") return event.type;
  if (event.error) return "error";
  const choice = event.choices?.[0];
  if (choice?.finish_reason) return `finish: ${choice.finish_reason}`;
  const delta = choice?.delta ?? choice?.message;
  if (delta) {
    const said = Object.keys(delta).filter((key) => delta[key] && key !== "role");
    return said.length ? said.join(", ") : "role";
  }
  if (event.usage) return "usage";
  return Object.keys(event).slice(0, 3).join(", ") || "{}";
}

/** The words in a run of events, as far as they are to be found. */
function words(events) {
  const text = events.map(([, data]) => {
    try {
      const event = JSON.parse(data);
      const delta = event.delta ?? event.choices?.[0]?.delta;
      if (typeof delta === "string") return delta;
      return delta?.content ?? delta?.reasoning_content ?? delta?.text ?? delta?.tool_calls?.[0]?.function?.arguments ?? "";
    } catch {
      return "";
    }
  }).join("");
  return text.length > 160 ? `${text.slice(0, 160)}…` : text;
}

function row({ kind, events }) {
  const body = h("div", { class: "datas" });
  const details = h("details", { class: "event" },
    h("summary", {}, h("time", {}, seconds(events[0][0])), h("code", { class: "kind" }, kind),
      events.length > 1 ? h("span", { class: "tag" }, `× ${events.length}`) : null,
      h("span", { class: "saying" }, words(events))),
    body);
  details.addEventListener("toggle", () => {
    if (!details.open || body.firstChild) return;
    const shown = events.slice(0, MOST);
    fill(body, shown.map(([time, data]) => h("div", { class: "data" },
      events.length > 1 ? h("time", {}, seconds(time)) : null, h("pre", {}, pretty(data)))),
    events.length > shown.length ? h("p", { class: "remark" }, `${events.length - shown.length} more of this kind.`) : null);
  });
  return h("li", {}, details);
}
