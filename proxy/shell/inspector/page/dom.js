// Elements from data. Whatever comes from outside becomes a text node or the value of a harmless attribute: never HTML.

const SVG = "http://www.w3.org/2000/svg";
const SVG_TAGS = new Set(["svg", "g", "rect", "circle", "path", "line", "text", "title"]);
const ATTRIBUTES = /^(class|id|title|role|type|for|name|value|href|tabindex|colspan|scope|placeholder|autocomplete|spellcheck|hidden|open|disabled|selected|checked|min|max|datetime|viewBox|preserveAspectRatio|x|y|x1|x2|y1|y2|cx|cy|r|d|width|height|text-anchor|aria-[a-z]+|data-[a-z]+)$/;

/** An element. `props`: attributes by name, listeners as `onclick`, custom properties as `--depth`. */
export function h(tag, props, ...children) {
  const element = SVG_TAGS.has(tag) && tag !== "title" ? document.createElementNS(SVG, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name.startsWith("--")) element.style.setProperty(name, value);
    else if (!ATTRIBUTES.test(name)) throw new Error(`no attribute of this page: ${name}`);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  add(element, children);
  return element;
}

function add(element, children) {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    if (Array.isArray(child)) add(element, child);
    else element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

/** Puts these children into an element, and nothing else. */
export function fill(element, ...children) {
  element.replaceChildren();
  add(element, children);
  return element;
}

/** A title for an SVG element, which is read aloud and shown by the mouse. */
export function titled(element, words) {
  const title = document.createElementNS(SVG, "title");
  title.append(document.createTextNode(words));
  element.prepend(title);
  return element;
}
