// The path of a request as a time line: what each attempt waited for, and for how long.

import { fill, h, titled } from "./dom.js";
import { seconds } from "./format.js";

export const STEPS = [
  ["place", "queue", "Waited for a place"],
  ["head", "connect", "Until the backend began to answer"],
  ["first_byte", "byte", "Until the first byte"],
  ["first_text", "think", "Until the model said something"],
  ["ended", "text", "Text, thoughts and calls"],
];

/** The pieces of an attempt: kind, words, from, to; the one that has not ended lasts until `now`. */
export function pieces(attempt, now) {
  const found = [];
  let from = attempt.began;
  for (const [moment, kind, words] of STEPS) {
    const to = attempt[moment];
    if (to === null) continue;
    const whole = moment === "ended" && attempt.first_text === null ? "think" : kind;
    const what = whole === kind ? words : "Until it ended, without a word";
    found.push({ kind: whole, words: what, from, to });
    from = to;
  }
  if (attempt.ended === null) {
    const next = STEPS.find(([moment]) => attempt[moment] === null);
    found.push({ kind: next[1], words: next[2], from, to: Math.max(now, from), open: true });
  }
  return found;
}

const NARROW = 120;

/** A request in a row: one small bar, as long as the request took beside the others. */
export function bar(request, longest) {
  const scale = NARROW / Math.max(longest, request.seconds > longest * 1.5 ? request.seconds : longest, 0.001);
  const parts = request.attempts.flatMap((attempt) => pieces(attempt, request.seconds));
  const words = parts.map((part) => `${part.words}: ${seconds(part.to - part.from)}`).join("; ");
  const drawn = parts
    .filter((part) => part.to > part.from)
    .map((part) =>
      h("rect", {
        class: part.kind, x: part.from * scale, y: 3, width: Math.max((part.to - part.from) * scale, 0.75), height: 8,
      }),
    );
  const svg = h("svg", { class: "bar", viewBox: `0 0 ${NARROW} 14`, width: NARROW, height: 14, role: "img" },
    h("line", { x1: 0, x2: NARROW, y1: 7, y2: 7 }), drawn);
  return titled(svg, words || "Nobody was asked");
}

const percent = (value) => `${(value * 100).toFixed(3)}%`;

/** The whole time line of one request. */
export class Timeline {
  constructor() {
    this.element = h("figure", { class: "timeline" });
  }

  show(request) {
    const total = Math.max(request.seconds, 0.001);
    const lanes = request.attempts.map((attempt, at) => this._lane(attempt, at, request, total));
    fill(
      this.element,
      h("div", { class: "axis", "aria-hidden": "true" }, ticks(total)),
      lanes.length ? lanes : h("p", { class: "quiet" }, "No backend was asked."),
      h("figcaption", {}, legend(request)),
    );
  }

  _lane(attempt, at, request, total) {
    const parts = pieces(attempt, request.seconds);
    const name = `${at + 1} · ${attempt.backend}`;
    const why = { again: "asked again", elsewhere: "another backend", lesson: "asked in another way" }[attempt.why];
    const how = attempt.fault ? attempt.fault.code ?? attempt.fault.fault : attempt.ending ?? "";
    return h(
      "div",
      { class: "lane" },
      h("p", { class: "lanename" }, name, h("span", { class: "quiet" },
        [why, attempt.status && `HTTP ${attempt.status}`, how].filter(Boolean).map((word) => ` · ${word}`))),
      h(
        "div",
        { class: "track", role: "img", "aria-label": parts.map((part) => `${part.words}: ${seconds(part.to - part.from)}`).join("; ") },
        parts.map((part) =>
          h("span", {
            class: `piece ${part.kind}${part.open ? " open" : ""}${attempt.fault && part === parts.at(-1) ? " failed" : ""}`,
            title: `${part.words}: ${seconds(part.to - part.from)}`,
            "--from": percent(part.from / total),
            "--size": percent((part.to - part.from) / total),
          }),
        ),
      ),
    );
  }
}

function legend(request) {
  const sums = new Map();
  for (const attempt of request.attempts)
    for (const part of pieces(attempt, request.seconds)) {
      const before = sums.get(part.kind) ?? { words: part.words, time: 0 };
      sums.set(part.kind, { words: before.words, time: before.time + part.to - part.from });
    }
  return [...sums].map(([kind, { words, time }]) =>
    h("span", { class: "entry" }, h("span", { class: `swatch ${kind}`, "aria-hidden": "true" }), `${words} `,
      h("b", {}, seconds(time))));
}

function ticks(total) {
  const rough = total / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough);
  const found = [];
  for (let at = 0; at < total * 0.93; at += step) found.push(at);
  return found.map((at) => h("span", { class: "tick", "--from": percent(at / total) }, at === 0 ? "0" : seconds(at)));
}
