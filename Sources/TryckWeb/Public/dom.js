// Builds elements. Texts are always set as texts, so nothing from outside can become markup.

const svgNamespace = "http://www.w3.org/2000/svg";

function build(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

/**
 * An HTML element.
 *
 * @param {string} name
 * @param {Object<string, *>} [attributes] `onclick` and the like are listeners; null, undefined and false are left out
 * @param {...(Node|string|null|undefined|Array)} children
 */
export const h = (name, attributes = {}, ...children) => build(document.createElement(name), attributes, children);

/** An SVG element; the arguments are those of `h`. */
export const svg = (name, attributes = {}, ...children) =>
  build(document.createElementNS(svgNamespace, name), attributes, children);

/** Sets a text if it differs, so that the browser has nothing to do for what is the same. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Sets or removes an attribute, if it differs. */
export function setAttribute(element, name, value) {
  const text = value === null || value === undefined || value === false ? null : value === true ? "" : String(value);
  if (element.getAttribute(name) === text) return;
  if (text === null) element.removeAttribute(name);
  else element.setAttribute(name, text);
}

/** Makes a button do nothing, or something again. It keeps the focus, which a `disabled` button loses to the keyboard's user. */
export const setInactive = (button, isInactive) => setAttribute(button, "aria-disabled", isInactive ? "true" : null);

/** Whether a button does nothing now. */
export const isInactive = (button) => button.getAttribute("aria-disabled") === "true";

/**
 * Makes the children of an element those for the items, in their order. An item's element is kept as long as there is
 * an item with its key.
 *
 * @template Item
 * @param {Element} parent
 * @param {Item[]} items
 * @param {(item: Item) => string} key
 * @param {(item: Item) => {element: Element, draw: (item: Item, ...rest: *) => void}} create
 * @param {...*} rest passed on to `draw`
 */
export function drawList(parent, items, key, create, ...rest) {
  const views = parent.views ?? (parent.views = new Map());
  const keys = new Set(items.map(key));
  for (const [name, view] of views) {
    if (keys.has(name)) continue;
    view.element.remove();
    views.delete(name);
  }
  items.forEach((item, index) => {
    let view = views.get(key(item));
    if (!view) views.set(key(item), view = create(item));
    if (parent.children[index] !== view.element) parent.insertBefore(view.element, parent.children[index] ?? null);
    view.draw(item, ...rest);
  });
}

/** An icon of `icons.svg`'s kind: one path on a field of 24 by 24, drawn with the colour of the text. */
export const icon = (path) => svg(
  "svg", {class: "icon", viewBox: "0 0 24 24", "aria-hidden": "true", focusable: "false"}, svg("path", {d: path}));
