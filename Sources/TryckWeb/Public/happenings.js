// The latest happenings as a list, and everything about one of them.

import {drawList, h, setText} from "./dom.js";
import {
  clockTime, duration, eventWords, lateWords, outcomeTone, outcomeWords, shortOutcome, spaced, stepWords, timeOrDate,
} from "./words.js";
import {createWhy} from "./why.js";

/** How often the list changes at most, in milliseconds. A list that changes with every frame cannot be read. */
const period = 250;

/** Gestures, and runs that no button has caused; the latest first. */
export function happenings(state, most) {
  const alone = state.runs.slice(-most).filter((run) => !run.button).map((entry) => ({kind: "run", entry}));
  const marks = state.marks.slice(-most).map((entry) => ({kind: "mark", entry}));
  return [...marks, ...alone].sort((a, b) => b.entry.n - a.entry.n).slice(0, most);
}

/**
 * A list of the latest happenings.
 *
 * @param {object} options
 * @param {number} options.most how many are shown
 * @param {function({kind: string, entry: object})} options.onselect
 */
export function createHappenings({most, onselect}) {
  const list = h("ul", {class: "happenings"});
  const hint = h("p", {class: "hint"}, "Press a button: it shows up here.");
  const element = h("div", {}, hint, list);
  let drawnAt = 0;
  let drawn = null;

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
        setText(time, clockTime(entry.at ?? entry.from));
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
      if (drawn && drawn.marks === state.marks && drawn.runs === state.runs) return false;
      if (time - drawnAt < period) return true;
      drawnAt = time;
      drawn = state;
      const items = happenings(state, most);
      hint.hidden = items.length > 0;
      drawList(list, items, (item) => String(item.entry.n), createRow);
      return false;
    },
  };
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
    createWhy(mark, state).then(
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
