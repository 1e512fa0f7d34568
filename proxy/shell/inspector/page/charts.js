// Small charts, drawn by hand: one dot for each request, oldest on the left.

import { h, titled } from "./dom.js";

const WIDTH = 320;
const HEIGHT = 84;
const LEFT = 38;
const BOTTOM = 12;
const TOP = 8;

/** `points`: {value, words, bad}, oldest first. `told`: how a value is written. */
export function chart(name, points, told) {
  const svg = h("svg", { class: "chart", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": name });
  if (!points.length) {
    svg.append(h("text", { x: WIDTH / 2, y: HEIGHT / 2, "text-anchor": "middle", class: "nothing" }, "nothing yet"));
    return svg;
  }
  const most = nice(Math.max(...points.map((point) => point.value)));
  const y = (value) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / most);
  const room = WIDTH - LEFT - 6;
  const x = (at) => LEFT + (points.length === 1 ? room / 2 : (room * at) / (points.length - 1));
  for (const value of [0, most / 2, most]) {
    svg.append(h("line", { class: "grid", x1: LEFT, x2: WIDTH, y1: y(value), y2: y(value) }));
    svg.append(h("text", { x: LEFT - 6, y: y(value) + 3, "text-anchor": "end" }, told(value)));
  }
  const path = points.map((point, at) => `${at ? "L" : "M"}${x(at).toFixed(1)} ${y(point.value).toFixed(1)}`).join("");
  svg.append(h("path", { class: "curve", d: path }));
  points.forEach((point, at) => {
    const dot = h("circle", { class: point.bad ? "bad" : "dot", cx: x(at).toFixed(1), cy: y(point.value).toFixed(1), r: points.length > 80 ? 1.5 : 2.5 });
    svg.append(titled(dot, point.words));
  });
  return svg;
}

function nice(value) {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= value);
}
