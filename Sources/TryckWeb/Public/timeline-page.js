// The page Timeline: all lanes, which can be held still, zoomed and gone back in.

import {h, setText} from "./dom.js";
import {createDetail, createHappenings} from "./happenings.js";
import * as server from "./server.js";
import {withPast} from "./state.js";
import {createTimeline} from "./timeline.js";
import {duration, timeOrDate} from "./words.js";

const firstSpan = 60_000;
const mostHappenings = 40;
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
    most: mostHappenings,
    onselect: (found) => {
      timeline.reveal(found.entry.at ?? found.entry.from);
      show(found);
    },
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
      "aria-label": "Timeline. The arrow keys move it, plus and minus zoom it, End shows the present. The list below says the same.",
      onkeydown: (event) => {
        if (!keys[event.key] || event.target !== region) return;
        event.preventDefault();
        keys[event.key]();
      },
    }, timeline.element);
  /** The parts of the past that cannot be shown, as sentences. */
  const missing = new Set();
  const notes = h("div", {});
  const element = h(
    "div", {}, h("div", {class: "heading"}, h("h1", {}, "Timeline")),
    h("section", {class: "panel", "aria-label": "Lanes"}, tools, region, notes), detail.element,
    h("section", {class: "panel", "aria-label": "Latest"}, h("header", {}, h("h2", {}, "Latest")), happenings.element));
  let settling = null;
  /** The first time for which the past was asked for. */
  let known = Infinity;

  function moved() {
    setText(hold, timeline.isLive ? "Hold still" : "Go on");
    const {from, to} = timeline.range;
    setText(range, timeline.isLive ? `the last ${duration(to - from)}` : `${timeOrDate(from)} – ${timeOrDate(to)}`);
    clearTimeout(settling);
    settling = setTimeout(loadPast, settleTime);
  }

  /** Asks for the past as far as it is shown and not known. */
  async function loadPast() {
    const {from} = timeline.range;
    const since = app.state().since;
    if (since === null || from >= Math.min(since, known)) return;
    known = from;
    try {
      const {lines, gaps, isWhole} = await server.history(from, since);
      for (const gap of gaps) missing.add(gap);
      notes.replaceChildren(...[...missing].map((gap) => h("p", {class: "muted"}, `${gap}.`)));
      app.update((state) => withPast(state, lines));
      // A shorter time is asked for again, because lines at the end are missing.
      if (!isWhole) known = Infinity;
    } catch (refusal) {
      // Without a history the past cannot be asked for again.
      if (refusal.status === 501 || refusal.status === 404) known = -Infinity;
    }
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
