// The page Rules: those that run, and the files they come from.

import {h} from "./dom.js";
import {createRuleEditor} from "./rule-editor.js";
import {createRuleList} from "./rule-list.js";

/** @param {import("./main.js").App} app */
export function createRulesPage(app) {
  const editor = createRuleEditor(app);
  const list = createRuleList(app, (place) => editor.open(place));
  return {
    element: h(
      "div", {}, h("div", {class: "heading"}, h("h1", {}, "Rules")),
      h("div", {class: "columns rules"}, list.element, editor.element)),
    title: "Rules",
    shown() { editor.load(); },
    draw(state) { list.draw(state); },
  };
}
