// The backends: their breakers, their places, and how quick they have been lately.

import { chart } from "./charts.js";
import { fill, h } from "./dom.js";
import { clock, middle, outcome, quantile, seconds, speed } from "./format.js";
import { Standing } from "./proxy.js";

const LATELY = 120;
const STATES = {
  closed: ["good", "takes requests"],
  half_open: ["slow", "is being tried"],
  open: ["bad", "is left alone"],
};

export class Backends extends Standing {
  constructor(requests) {
    super();
    this._requests = requests;
    this.element = h("div", { class: "cards" }, h("h2", { class: "unseen" }, "Backends"));
  }

  _draw(workers, shared) {
    const names = [...new Set(workers.flatMap((worker) => worker.backends.map((backend) => backend.name)))];
    fill(this.element, h("h2", { class: "unseen" }, "Backends"), names.map((name) =>
      this._card(name, workers.map((worker) => worker.backends.find((backend) => backend.name === name)).filter(Boolean), shared)));
  }

  _card(name, standing, shared) {
    const asked = this._requests.list.filter((request) => request.attempts.some((attempt) => attempt.backend === name));
    const tries = asked.flatMap((request) => request.attempts.filter((attempt) => attempt.backend === name)
      .map((attempt) => ({ request, attempt }))).slice(0, LATELY).reverse();
    const firsts = tries.filter(({ attempt }) => attempt.first_text !== null).map(({ request, attempt }) => ({
      value: attempt.first_text - (attempt.place ?? attempt.began),
      words: `${clock(request.began)} ${request.model}: ${seconds(attempt.first_text - (attempt.place ?? attempt.began))}`,
      bad: Boolean(attempt.fault),
    }));
    const speeds = tries.filter(({ request, attempt }) => attempt === request.attempts.at(-1) && speed(request))
      .map(({ request }) => ({ value: speed(request), words: `${clock(request.began)} ${request.model}: ${speed(request).toFixed(1)} tokens per second` }));
    const faults = tries.filter(({ attempt }) => attempt.fault).length;
    const left = asked.filter((request) => outcome(request) === "left").length;
    return h("section", { class: "card", "aria-label": name },
      h("h3", {}, name, breaker(standing)),
      reasons(standing),
      places(standing, shared),
      h("div", { class: "numbers" },
        number("Requests", tries.length),
        number("Faults", faults, faults ? "bad" : null),
        number("Left by clients", left),
        number("First text, median", seconds(middle(firsts.map(({ value }) => value)))),
        number("First text, 95 %", seconds(quantile(firsts.map(({ value }) => value), 0.95))),
        number("Tokens per second", middle(speeds.map(({ value }) => value))?.toFixed(0) ?? "–")),
      h("div", { class: "charts" },
        h("figure", {}, h("figcaption", {}, "Seconds to the first text"), chart(`Seconds to the first text of ${name}`, firsts, (value) => axis(value))),
        h("figure", {}, h("figcaption", {}, "Tokens per second"), chart(`Tokens per second of ${name}`, speeds, axis))));
  }
}

const axis = (value) => (value >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(2))));

function worst(standing) {
  return ["open", "half_open", "closed"].find((state) => standing.some(({ breaker: { state: each } }) => each === state));
}

function breaker(standing) {
  const state = worst(standing);
  const [kind, words] = STATES[state];
  const some = standing.filter(({ breaker: each }) => each.state === state).length;
  return h("span", { class: `badge ${kind}` }, h("span", { class: `dot ${kind}`, "aria-hidden": "true" }), words,
    some < standing.length ? ` (by ${some} of ${standing.length} workers)` : "");
}

function reasons(standing) {
  const found = standing.map(({ breaker: each }) => each).filter((each) => each.why);
  return [...new Set(found.map(({ why, seconds: left }) => `It ${why}.${left ? ` The next request is let through in ${seconds(left)}.` : ""}`))]
    .map((words) => h("p", { class: "remark" }, words));
}

function places(standing, shared) {
  const working = standing.reduce((sum, { places: each }) => sum + each.working, 0);
  const waiting = standing.reduce((sum, { places: each }) => sum + each.waiting, 0);
  const { slots } = standing[0].places;
  const said = slots === null ? `${working} under way, no limit on places` : `${working} of ${shared ? slots : slots * standing.length} places taken`;
  return h("p", { class: "places" }, said, waiting ? h("b", { class: "warn" }, ` · ${waiting} wait`) : " · nobody waits");
}

function number(name, value, kind) {
  return h("div", { class: kind ?? "" }, h("b", {}, value), h("span", {}, name));
}
