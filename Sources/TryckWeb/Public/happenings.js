// The latest happenings as a list, and everything about one of them.

import {drawList, h, setText} from "./dom.js";
import {isKnown} from "./state.js";
import {
  clockTime, count, duration, eventWords, lateWords, outcomeTone, outcomeWords, shortOutcome, spaced, stepWords, timeOrDate,
} from "./words.js";
import {createWhy} from "./why.js";

/** How often the list changes at most, in milliseconds. A list that changes with every frame cannot be read. */
const period = 250;
/** How often it changes because time goes on. */
const livePeriod = 1000;

/**
 * Gestures, and runs that no button has caused; the latest first.
 *
 * @param {?{from: number, to: number}} range null: all times
 * @returns {{items: {kind: string, entry: object}[], more: number}} `more` is how many there are besides
 */
export function happenings(state, most, range = null) {
  const isShown = (from, to) => range === null || (from <= range.to && to >= range.from);
  const alone = state.runs.filter((run) => !run.button && isShown(run.from, run.from)).slice(-most - 1);
  const marks = state.marks.filter((mark) => isShown(mark.at, mark.arrived ?? mark.at));
  const all = [...marks.slice(-most).map((entry) => ({kind: "mark", entry})), ...alone.map((entry) => ({kind: "run", entry}))];
  const items = all.sort((a, b) => b.entry.n - a.entry.n).slice(0, most);
  return {items, more: marks.length + alone.length - items.length};
}

/**
 * A list of the latest happenings.
 *
 * @param {object} options
 * @param {number} options.most how many are shown
 * @param {function(): {from: number, to: number, isLive: boolean}} [options.range] only what happened then is shown
 * @param {function({kind: string, entry: object})} options.onselect
 */
export function createHappenings({most, onselect, range = null}) {
  const list = h("ul", {class: "happenings"});
  const hint = h("p", {class: "hint"});
  const rest = h("p", {class: "hint", hidden: true});
  const element = h("div", {}, hint, list, rest);
  let drawnAt = 0;
  let drawn = null;
  let drawnRange = null;
  /** The first time that is shown, while the focus is in the list: what has it is not taken away. */
  let held = null;

  /** What is shown of the past; null: all. */
  function wanted() {
    if (!range) return null;
    const {from, to, isLive} = range();
    held = isLive && list.contains(document.activeElement) ? held ?? from : null;
    return {from: held ?? from, to, isLive};
  }

  /** Whether another part of the past is shown. While it goes on by itself, once a second is enough. */
  const isMoved = (next, time) => next !== null && (drawnRange === null || next.isLive !== drawnRange.isLive
    || (next.isLive ? time - drawnAt > livePeriod : next.from !== drawnRange.from || next.to !== drawnRange.to));

  function createRow(item) {
    const time = h("time", {});
    const who = h("strong", {});
    const what = h("span", {});
    const rules = h("span", {class: "rules"});
    let shown = item;
    const button = h("button", {type: "button", onclick: () => onselect(shown)}, time, who, what, rules);
    return {
      element: h("li", {}, button),
      draw(item) {
        if (item.entry === shown.drawn) return;
        shown = {...item, drawn: item.entry};
        const {kind, entry} = item;
        setText(time, timeOrDate(entry.at ?? entry.from));
        setText(who, kind === "mark" ? entry.name : entry.rule);
        setText(what, kind === "mark" ? [eventWords(entry.line), lateWords(entry.line)].filter(Boolean).join(", ")
          : runCause(entry));
        rules.replaceChildren(...(kind === "mark" ? entry.rules : []).map((rule) => h(
          "span", {class: `tag ${outcomeTone(rule.outcome)}`},
          rule.outcome === "started" ? rule.rule : `${rule.rule} ${shortOutcome(rule.outcome)}`)));
      },
    };
  }

  return {
    element,
    /** Draws the list if it has changed and was not drawn just now; returns whether it has to be drawn again later. */
    draw(state, time) {
      const next = wanted();
      const isSame = drawn && drawn.marks === state.marks && drawn.runs === state.runs && drawn.link === state.link;
      if (isSame && !isMoved(next, time)) return false;
      if (time - drawnAt < period) return true;
      drawnAt = time;
      drawn = state;
      drawnRange = next;
      const {items, more} = happenings(state, most, next);
      hint.hidden = items.length > 0;
      setText(hint, nothingWords(state, next));
      rest.hidden = next === null || more === 0;
      setText(rest, `${count(more, "earlier one")} in this time. Show less time to see them.`);
      drawList(list, items, (item) => String(item.entry.n), createRow);
      return false;
    },
  };
}

/** What stands in place of an empty list. */
function nothingWords(state, range) {
  if (range && !range.isLive) return "No button did anything in this time.";
  return isKnown(state) ? "Press a button: it shows up here." : "What the buttons do is not known now.";
}

const runCause = (run) => `${outcomeWords(run.outcome)}${run.button === null && run.event === "" ? ", by request" : ""}`;

/** The steps of a run, each with what it has sent or printed. */
function stepList(run) {
  if (run.steps.length === 0) return h("p", {class: "muted"}, "No step has been reported.");
  return h("ol", {class: "steps"}, run.steps.map((step) => {
    const {title, text, output, tone} = stepWords(step);
    return h("li", {class: tone}, h("span", {class: "after"}, `+${duration(Math.max(0, step.at - run.from))}`),
      h("b", {}, title), " ", h("code", {}, text), output ? h("pre", {tabindex: "0"}, output) : null);
  }));
}

const runSection = (run) => h(
  "section", {class: "run"},
  h("h3", {}, run.rule, " ", h("span", {class: `tag ${outcomeTone(run.outcome)}`}, outcomeWords(run.outcome))),
  run.reason ? h("p", {}, run.reason) : null, run.run === null ? null : stepList(run));

/**
 * A panel with everything about one happening.
 *
 * @param {function(): import("./state.js").State} currentState
 */
export function createDetail(currentState, onclose) {
  const title = h("h2", {tabindex: "-1"});
  const content = h("div", {});
  /** What had the focus before, which gets it back. */
  let opener = null;
  const close = h("button", {type: "button", class: "quiet", onclick: () => {
    const main = element.closest("main");
    element.hidden = true;
    onclose();
    (main?.contains(opener) ? opener : main)?.focus();
  }}, "Close");
  const element = h(
    "section", {class: "panel detail", hidden: true, "aria-label": "What happened"}, h("header", {}, title, close),
    content);

  function showMark(mark) {
    const state = currentState();
    setText(title, `${mark.name}: ${eventWords(mark.line)}`);
    const runs = state.runs.filter(
      (run) => run.run !== null && mark.rules.some((entry) => entry.rule === run.rule && entry.run === run.run));
    const why = h("div", {}, h("p", {class: "muted"}, "Asking…"));
    content.replaceChildren(
      h("p", {class: "muted"}, [timeOrDate(mark.at), lateWords(mark.line)].filter(Boolean).join(", ")),
      ...(runs.length ? runs.map(runSection) : [h("p", {}, "No rule ran.")]),
      h("h3", {}, "Why, gate by gate"), why);
    createWhy(mark, state, runs).then(
      (answer) => why.replaceChildren(answer),
      (reason) => why.replaceChildren(h("p", {class: "muted"}, `It cannot be explained: ${reason.message}`)));
  }

  function showRun(run) {
    setText(title, run.rule);
    content.replaceChildren(
      h("p", {class: "muted"}, `${timeOrDate(run.from)}${run.button ? `, ${run.button} ${spaced(run.event)}` : ""}`),
      runSection(run));
  }

  function showPress(press) {
    const name = currentState().buttons.find((button) => button.id === press.button)?.name ?? press.button;
    setText(title, `${name}: ${press.to === null ? "down" : `down for ${duration(press.to - press.from)}`}`);
    content.replaceChildren(h("p", {class: "muted"}, timeOrDate(press.from)));
  }

  return {
    element,
    show({kind, entry}) {
      // The list may have an earlier version of the entry: the present one has all steps.
      const state = currentState();
      const list = {mark: state.marks, run: state.runs, press: state.presses}[kind];
      const present = list.find((other) => other.n === entry.n) ?? entry;
      ({mark: showMark, run: showRun, press: showPress})[kind](present);
      if (!element.contains(document.activeElement)) opener = document.activeElement;
      element.hidden = false;
      title.focus();
    },
  };
}
