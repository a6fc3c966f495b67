// The card of a button on the page Now, with a drawing that shows whether it is pressed, its state, battery and signal.

import {battery, body, cap, lights, litLights, partsOf, shownPosition, signal} from "./drawing.js";
import {h, icon, setAttribute, setText, svg} from "./dom.js";
import {isKnown, partKey} from "./state.js";
import {eventWords, lateWords, linkWords, timeOrDate} from "./words.js";

const dots = "M5 10a2 2 0 1 0 0 4 2 2 0 0 0 0-4Zm7 0a2 2 0 1 0 0 4 2 2 0 0 0 0-4Zm7 0a2 2 0 1 0 0 4 2 2 0 0 0 0-4Z";

/** The other things that a simulated button of a model can do: what is sent, and what it is called. */
const gestures = {
  flic2: [["double_click", "double click", "double"], ["hold", "hold", "hold"]],
  duo: [
    ["swipe_left", "swipe left", "←"], ["swipe_up", "swipe up", "↑"], ["swipe_down", "swipe down", "↓"],
    ["swipe_right", "swipe right", "→"],
  ],
  twist: [["turn_-8", "turn left", "↺"], ["turn_8", "turn right", "↻"]],
};

/** What lets go of the simulated buttons that a pointer holds. */
const releases = new Set();

/** Lets go of all of them, because the page is left. */
export function releaseAll() {
  for (const release of [...releases]) release();
}

globalThis.addEventListener?.("pagehide", releaseAll);

/**
 * The name by which the simulator knows a button; undefined if it is a real one.
 *
 * @param {object} button as the daemon describes it
 * @param {?object} status the daemon's status
 */
export function simulatedName(button, status) {
  const names = status?.simulated_buttons ?? [];
  return [button.nickname, button.name].find((name) => names.includes(name));
}

/**
 * The card of a button.
 *
 * @param {object} button as the daemon describes it
 * @param {{press: function(string, string), release: function(string, string), open: function(object)}} actions `press` and
 *   `release` take the simulator's name of the button and what is done; `open` shows everything about the button
 */
export function createCard(button, actions) {
  const parts = partsOf(button.model);
  const caps = parts.map(({part}) => cap(button.model, part));
  const rim = button.model === "twist" ? lights() : [];
  const drawing = svg(
    "svg", {class: `drawing ${button.model}`, viewBox: "0 0 120 120", role: "img"}, body(button.model), ...rim, ...caps);
  const stage = h("div", {class: "stage"}, drawing);
  const more = h("div", {class: "gestures"});
  const name = h("h2", {id: `name-${button.id}`});
  const link = h("span", {class: "link"});
  const event = h("strong", {});
  const time = h("span", {class: "time"});
  const facts = h("p", {class: "facts"});
  const options = h("button", {class: "quiet round", type: "button", onclick: () => actions.open(known)}, icon(dots));
  const element = h(
    "li", {class: "card"}, stage, more, h("div", {class: "title"}, name, options), link,
    h("p", {class: "last"}, event, time), facts);
  let known = button;
  let last = {};
  let simulator;

  /** Makes the drawing a set of buttons for the pointer and the keyboard. */
  function simulate() {
    drawing.setAttribute("aria-hidden", "true");
    drawing.removeAttribute("role");
    stage.append(...parts.map(({part, prefix, title}) => pressable(part, prefix, title)));
    more.append(...gestures[known.model].map(([action, title, sign]) => h("button", {
      type: "button", class: "quiet small", title, "aria-label": `${known.name}: ${title}`,
      onclick: () => actions.press(simulator, action),
    }, sign)));
  }

  /** A part that goes down with the pointer and up with it. The keyboard clicks it. */
  function pressable(part, prefix, title) {
    let pointer = null;
    const release = () => {
      pointer = null;
      releases.delete(release);
      actions.release(simulator, `${prefix}up`);
    };
    const up = (event) => { if (event.pointerId === pointer) release(); };
    return h("button", {
      type: "button", class: `part ${part}`, "aria-label": known.name + title, "data-part": part,
      onpointerdown: (event) => {
        if (event.button !== 0 || pointer !== null) return;
        pointer = event.pointerId;
        releases.add(release);
        event.currentTarget.setPointerCapture(pointer);
        actions.press(simulator, `${prefix}down`);
      },
      onpointerup: up,
      onpointercancel: up,
      // A click without a pointer is that of a key or of a screen reader.
      onclick: (event) => { if (event.detail === 0) actions.press(simulator, `${prefix}click`); },
    });
  }

  function drawDown(state) {
    parts.forEach(({part}, index) => {
      const isDown = partKey(known.id, part) in state.held;
      caps[index].classList.toggle("down", isDown);
    });
  }

  function drawFacts(button, status) {
    const charge = button.battery === null ? null : h(
      "span", {class: "fact"}, battery(button.battery, button.battery_low),
      `${button.battery} %${button.battery_low ? ", change it" : ""}`);
    const isReady = button.state === "ready";
    const strength = button.rssi === null || !isReady ? null : h(
      "span", {class: "fact"}, signal(button.rssi), `${button.rssi} dBm`);
    const isOneOfMany = (status?.radios?.length ?? 0) > 1 && button.radio;
    facts.replaceChildren(...[charge, strength, isOneOfMany ? h("span", {class: "fact"}, button.radio) : null].filter(Boolean));
  }

  return {
    element,
    /** Draws what has changed. */
    draw(button, state) {
      const mark = state.latest[button.id];
      const isSame = button === last.button && mark === last.mark && state.held === last.held
        && state.status === last.status && state.link === last.link;
      if (isSame) return;
      known = button;
      simulator = simulatedName(button, state.status);
      if (simulator && !stage.querySelector("button")) simulate();
      if (state.held !== last.held) drawDown(state);
      if (button !== last.button || state.status !== last.status || state.link !== last.link) {
        setText(name, button.name);
        setAttribute(options, "aria-label", `More about ${button.name}`);
        setText(link, isKnown(state) ? linkWords(button) : "not known now");
        element.dataset.state = isKnown(state) ? button.state : "unknown";
        if (!simulator) setAttribute(drawing, "aria-label", `${button.name}: a drawing that moves with the button`);
        drawFacts(button, state.status);
      }
      if (rim.length) {
        const lit = litLights(shownPosition(button, mark), button.led_mode ?? "fill");
        rim.forEach((light, index) => light.classList.toggle("lit", lit[index]));
      }
      if (mark !== last.mark || button !== last.button) drawLast(button, mark);
      last = {button, mark, held: state.held, status: state.status, link: state.link};
    },
  };

  function drawLast(button, mark) {
    if (mark) {
      setText(event, eventWords(mark.line));
      const late = lateWords(mark.line);
      setText(time, ` ${timeOrDate(mark.at)}${late ? `, ${late}` : ""}`);
    } else {
      setText(event, "");
      setText(time, button.last_seen ? `last seen ${timeOrDate(Date.parse(button.last_seen))}` : "not seen yet");
    }
  }
}
