// The page Pair: the steps of pairing as they happen, with a drawing of what the hand does.

import {body, cap} from "./drawing.js";
import {drawList, h, isInactive, setInactive, setText, svg} from "./dom.js";
import {modelWords, pairingWords} from "./words.js";

/** How long a search lasts, in seconds. */
const searchTime = 60;

/** The steps that people see. */
const stages = [
  {name: "search", title: "Look", text: "Start the search, with the button within a few metres."},
  {name: "hold", title: "Hold it for 7 seconds", text: "Press the button and keep it down until its light changes."},
  {name: "check", title: "Wait", text: "Tryck connects, checks that it is a genuine Flic, and makes a key."},
  {name: "done", title: "Name it", text: "Messages and Home Assistant use this name. Rules declare the button with its serial number."},
];

/**
 * How far the pairing is.
 *
 * @param {object[]} lines the lines of the search, as the state keeps them
 * @returns {{stage: "idle"|"hold"|"check"|"done"|"failed", sentence: string, paired: object[]}} `paired` are the lines of
 *   the buttons that were paired
 */
export function pairingStage(lines) {
  const paired = lines.filter((line) => line.step === "paired");
  const last = lines.findLast((line) => line.step !== "ended");
  const isEnded = lines.at(-1)?.step === "ended";
  if (!last) return {stage: "idle", sentence: "", paired};
  const sentence = pairingWords(last);
  switch (last.step) {
  case "searching": case "found_private": case "already_paired":
    if (!isEnded) return {stage: "hold", sentence, paired};
    if (paired.length > 0) return {stage: "done", sentence: pairingWords(paired.at(-1)), paired};
    return {stage: "failed", sentence: "No button was found. Hold it down for 7 seconds while the search goes on.", paired};
  case "paired": return {stage: "done", sentence, paired};
  case "failed": return {stage: "failed", sentence, paired};
  default: return {stage: "check", sentence, paired};
  }
}

/** A finger on a button; the ring around it fills in seven seconds. */
function drawHand() {
  const ring = svg("circle", {class: "ring", cx: 60, cy: 60, r: 56, pathLength: 100});
  const finger = svg("g", {class: "finger"}, svg("g", {transform: "rotate(-36 60 60)"},
    svg("rect", {class: "skin", x: 38, y: 118, width: 72, height: 70, rx: 26}),
    svg("rect", {class: "skin", x: 47, y: 52, width: 27, height: 104, rx: 13.5}),
    svg("path", {class: "skin open", d: "M74 124v32"}),
    svg("rect", {class: "nail", x: 52.5, y: 55.5, width: 16, height: 15, rx: 7}),
    svg("rect", {class: "skin", x: 26, y: 126, width: 25, height: 50, rx: 12.5, transform: "rotate(22 38 150)"})));
  return svg(
    "svg", {class: "hand drawing flic2", viewBox: "-6 -8 184 202", "aria-hidden": "true"}, body("flic2"),
    svg("circle", {class: "ring-track", cx: 60, cy: 60, r: 56}), ring, cap("flic2", ""), finger);
}

/** @param {import("./main.js").App} app */
export function createPair(app) {
  const hand = h("div", {class: "stage-hand"}, drawHand());
  const sentence = h("p", {class: "lead", role: "status"});
  const start = h("button", {type: "button", class: "primary", onclick: () => {
    if (!isInactive(start)) app.ask("permit_join", {time: searchTime});
  }}, "Start");
  const stop = h("button", {type: "button", onclick: () => app.ask("permit_join", {time: 0})}, "Stop");
  const steps = h("ol", {class: "stages"});
  const items = stages.map(({title, text}) => h("li", {}, h("b", {}, title), h("span", {}, text)));
  steps.append(...items);
  const paired = h("ul", {class: "paired", "aria-label": "Paired now"});
  const simulated = h("div", {class: "panel simulated", hidden: true});
  const help = h(
    "details", {class: "panel"}, h("summary", {}, "When it does not work"),
    h("ul", {},
      h("li", {}, "Nothing is found: hold the button longer, closer to the radio. A new battery (CR2032) helps, too."),
      h("li", {}, "It is in range, but not in pairing mode: it was released too early. Hold it for 7 seconds."),
      h("li", {}, "It is connected elsewhere: remove it from the phone's app, or switch that phone's Bluetooth off."),
      h("li", {}, "It fails again and again: ", h("a", {href: "./#health"}, "Health"), " says whether the radio is well.")));
  const element = h(
    "div", {class: "pair"}, h("div", {class: "heading"}, h("h1", {}, "Pair a button")),
    h("section", {class: "panel guide", "aria-label": "Pairing"}, hand,
      h("div", {}, sentence, steps, h("div", {class: "tools"}, start, stop))),
    paired, simulated, help);

  function createPaired(line) {
    const name = h("input", {id: `name-of-${line.id}`, maxlength: "64", autocomplete: "off", value: line.button});
    const message = h("p", {class: "message", role: "status"});
    const facts = h("span", {class: "muted"});
    const rename = async (event) => {
      event.preventDefault();
      const to = name.value.trim();
      try {
        await app.server.request("button/rename", {id: line.id, to});
        setText(message, to ? `It is called ${to} now, unless the rules name it.` : "The name is removed.");
      } catch (refusal) {
        setText(message, refusal.message);
      }
    };
    return {
      element: h(
        "li", {class: "panel"}, h("b", {}, "✓ Paired"), facts,
        h("form", {class: "row", onsubmit: rename}, h("label", {for: name.id}, "Name"), name,
          h("button", {type: "submit"}, "Rename")),
        message),
      draw(line, state) {
        const button = state.buttons.find((candidate) => candidate.id === line.id);
        const volts = line.battery_mv && `${(line.battery_mv / 1000).toFixed(2)} V`;
        setText(facts, [button && modelWords(button.model), line.serial, volts].filter(Boolean).join(", "));
      },
    };
  }

  /** How many buttons have a field for their name; -1 before the first drawing. */
  let namesShown = -1;

  /** Leads to the name of the button that was paired just now, which a phone shows only below. Nobody is disturbed who types. */
  function askForName() {
    if (!element.isConnected || document.activeElement?.matches("input")) return;
    const name = paired.lastElementChild?.querySelector("input");
    name?.focus({preventScroll: true});
    name?.select();
    name?.scrollIntoView({block: "center"});
  }

  /** Simulated buttons that are not paired can be held with the mouse. */
  function drawSimulated(state) {
    const known = new Set(state.buttons.flatMap((button) => [button.nickname, button.name]));
    const unknown = (state.status?.simulated_buttons ?? []).filter((name) => !known.has(name));
    simulated.hidden = unknown.length === 0;
    if (simulated.dataset.names === unknown.join()) return;
    simulated.dataset.names = unknown.join();
    simulated.replaceChildren(
      h("h2", {}, "Simulated buttons"), h("p", {}, "They are not paired. Each is held for 7 seconds by a click:"),
      h("div", {class: "tools"}, unknown.map((name) => h("button", {
        type: "button", onclick: () => app.ask("simulator/press", {button: name, press: "make_public"}),
      }, `Hold ${name}`))));
  }

  return {
    element,
    title: "Pair",
    draw(state) {
      const isSearching = state.pairing.length > 0 ? state.pairing.at(-1).step !== "ended"
        : state.status?.permit_join ?? false;
      const found = pairingStage(isSearching && state.pairing.length === 0 ? [{step: "searching"}] : state.pairing);
      element.dataset.stage = found.stage;
      setText(sentence, found.sentence || "A new button is paired once. Then it works for years.");
      const active = {idle: 0, failed: 0, hold: 1, check: 2, done: 3}[found.stage];
      items.forEach((item, index) => {
        item.className = index < active ? "past" : index === active ? "active" : "";
        if (index === active) item.setAttribute("aria-current", "step");
        else item.removeAttribute("aria-current");
      });
      setInactive(start, isSearching || state.link !== "live");
      if (!isSearching && stop === document.activeElement) start.focus();
      stop.hidden = !isSearching;
      setText(start, found.stage === "failed" ? "Try again" : found.stage === "done" ? "Pair another" : "Start");
      drawList(paired, found.paired, (line) => line.id, createPaired, state);
      if (found.paired.length > namesShown && namesShown >= 0) askForName();
      namesShown = found.paired.length;
      drawSimulated(state);
    },
  };
}
