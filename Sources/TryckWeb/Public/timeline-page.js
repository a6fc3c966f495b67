// The page Timeline: all lanes, which can be held still, zoomed and gone back in.

import {h, setText} from "./dom.js";
import {createDetail, createHappenings} from "./happenings.js";
import {createTimeline} from "./timeline.js";
import {duration, timeOrDate} from "./words.js";

const firstSpan = 60_000;
const mostHappenings = 200;
/** How long the timeline stays where it is before the past is asked for, in milliseconds. */
const settleTime = 300;

/** @param {import("./main.js").App} app */
export function createTimelinePage(app) {
  const detail = createDetail(app.state, () => timeline.select(null));
  const show = (found) => {
    timeline.select(found.entry.n);
    detail.show(found);
  };
  const timeline = createTimeline({span: firstSpan, onselect: show, onmove: moved});
  const happenings = createHappenings({
    most: mostHappenings, onselect: show, range: () => ({...timeline.range, isLive: timeline.isLive}),
  });
  const range = h("span", {class: "range", role: "status"});
  const tool = (label, title, action) => h("button", {type: "button", "aria-label": title, title, onclick: action}, label);
  const hold = h("button", {
    type: "button", onclick: () => timeline.isLive ? timeline.hold() : timeline.live(),
  }, "Hold still");
  const tools = h(
    "div", {class: "tools", role: "group", "aria-label": "Timeline"}, hold,
    tool("◂", "Back", () => timeline.shift(-0.5)), tool("▸", "Forward", () => timeline.shift(0.5)),
    tool("−", "Show more time", () => timeline.zoom(2)), tool("+", "Show less time", () => timeline.zoom(0.5)), range);
  const keys = {
    ArrowLeft: () => timeline.shift(-0.25), ArrowRight: () => timeline.shift(0.25), "+": () => timeline.zoom(0.5),
    "-": () => timeline.zoom(2), End: () => timeline.live(),
  };
  const region = h(
    "div", {
      class: "track", tabindex: "0", role: "group",
      "aria-label": "Timeline. The arrow keys move it, plus and minus zoom it, End shows the present. The list below has what happened in the time that is shown.",
      onkeydown: (event) => {
        if (!keys[event.key] || event.target !== region) return;
        event.preventDefault();
        keys[event.key]();
      },
    }, timeline.element);
  const notes = h("div", {});
  const element = h(
    "div", {}, h("div", {class: "heading"}, h("h1", {}, "Timeline")),
    h("section", {class: "panel", "aria-label": "Lanes"}, tools, region, notes), detail.element,
    h("section", {class: "panel", "aria-label": "In this time"}, h("header", {}, h("h2", {}, "In this time")), happenings.element));
  let settling = null;

  function moved() {
    setText(hold, timeline.isLive ? "Hold still" : "Go on");
    const {from, to} = timeline.range;
    setText(range, timeline.isLive ? `the last ${duration(to - from)}` : `${timeOrDate(from)} – ${timeOrDate(to)}`);
    clearTimeout(settling);
    settling = setTimeout(loadPast, settleTime);
  }

  /** Asks for the past as far as it is shown and not known. */
  async function loadPast() {
    await app.past.load(timeline.range.from);
    notes.replaceChildren(...[...app.past.missing].map((gap) => h("p", {class: "muted"}, `${gap}.`)));
  }

  return {
    element,
    title: "Timeline",
    draw(state) {
      timeline.draw(state);
      if (range.textContent === "" && state.since !== null) moved();
    },
    frame(state, time) {
      timeline.frame(time);
      return happenings.draw(state, time);
    },
  };
}
