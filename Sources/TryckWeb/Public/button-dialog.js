// Everything about one button, and what can be done with it: find it, rename it, change its settings, forget it.

import {picture} from "./drawing.js";
import {h, setText} from "./dom.js";
import {duration, eventWords, linkWords, modelWords, spaced, timeOrDate} from "./words.js";

const triggerModes = [
  "auto", "click", "click_and_hold", "click_and_double_click", "click_and_double_click_and_hold",
];
const latencyModes = ["low", "normal", "high"];
const ledModes = ["none", "fill", "point", "selector"];

/** @param {import("./main.js").App} app */
export function createButtonDialog(app) {
  const title = h("h2", {id: "button-title"});
  const art = h("div", {class: "art"});
  const message = h("p", {class: "message", role: "status"});
  const name = h("input", {id: "button-name", maxlength: "64", autocomplete: "off"});
  const settings = h("div", {class: "settings"});
  const facts = h("dl", {class: "facts-list"});
  const actions = h("div", {class: "actions"});
  const element = h(
    "dialog", {"aria-labelledby": "button-title", onclose: () => { id = null; finding = null; }},
    h("header", {}, title, h("button", {type: "button", class: "quiet", onclick: () => element.close()}, "Close")),
    h("div", {class: "split"}, art, h("div", {},
      h("form", {class: "row", onsubmit: rename}, h("label", {for: "button-name"}, "Name"), name,
        h("button", {type: "submit"}, "Rename")),
      message)),
    settings, actions, h("details", {}, h("summary", {}, "Facts"), facts));
  let id = null;
  let drawn = null;
  /** The number of the latest mark when a search for the button began. */
  let finding = null;

  const button = () => app.state().buttons.find((candidate) => candidate.id === id);

  /** Makes a request, and says what has become of it; false if it was refused. */
  async function change(request, data, done, refused = (reason) => reason) {
    try {
      await app.server.request(request, {id, ...data});
      setText(message, done);
      return true;
    } catch (refusal) {
      setText(message, refused(refusal.message));
      return false;
    }
  }

  function rename(event) {
    event.preventDefault();
    const to = name.value.trim();
    change("button/rename", {to}, to ? `It is called ${to} now, unless the rules name it.` : "The name is removed.");
  }

  async function find() {
    finding = app.state().count;
    const invitation = `Press the buttons that you have: this says when it was ${button()?.name}.`;
    setText(message, invitation);
    try {
      await app.server.request("button/led", {id});
    } catch (refusal) {
      // A button that was pressed meanwhile has changed the message.
      if (message.textContent === invitation) setText(message, `${invitation} It does not blink: ${refusal.message}.`);
    }
  }

  /** @param {boolean} isFixed whether the rules fix the value, so that no other can be chosen */
  function choice(label, option, values, value, isFixed = false) {
    const select = h("select", {
      id: `option-${option}`,
      onchange: async () => {
        const isChanged = await change(
          "button/options", {options: {[option]: select.value}}, "The setting is changed.",
          (reason) => `“${label}” is not changed: ${reason}.`);
        // What was refused is not shown as if it were chosen.
        if (!isChanged) select.value = button()?.[option] ?? value;
      },
    }, (isFixed ? [value] : values).map((item) => h("option", {value: item, selected: item === value}, spaced(item))));
    // `raw` and the like are shown, but cannot be chosen.
    if (value && !values.includes(value)) select.prepend(h("option", {value, selected: true, disabled: true}, spaced(value)));
    return h("div", {class: "row"}, h("label", {for: select.id}, label), select,
      isFixed ? h("span", {class: "hint"}, "No other can be chosen: the rules fix this one.") : null);
  }

  function forget() {
    const known = button();
    const sure = h("div", {class: "sure", role: "alertdialog", "aria-label": `Forget ${known.name}?`},
      h("p", {}, `Forget ${known.name}? Its pairing is deleted. To use it again, pair it again.`),
      h("button", {type: "button", class: "bad", onclick: async () => {
        await change("button/remove", {}, "");
        if (!message.textContent) leave();
      }}, "Forget it"),
      h("button", {type: "button", onclick: () => {
        actions.replaceChildren(...actionButtons(button() ?? known));
        actions.lastElementChild.focus();
      }}, "Keep it"));
    actions.replaceChildren(sure);
    sure.querySelector("button:last-child").focus();
  }

  /** Closes the dialog of a button that is forgotten. What opened it goes, too, so the focus moves to the page. */
  function leave() {
    element.close();
    element.closest("main")?.focus();
  }

  const actionButtons = (known) => [
    h("button", {type: "button", onclick: find}, "Find it"),
    known.is_connection_wanted
      ? h("button", {
        type: "button", onclick: () => change("button/disconnect", {}, "It is switched off here; its pairing is kept."),
      }, "Switch off here")
      : h("button", {
        type: "button", onclick: () => change("button/connect", {}, "It connects at its next press."),
      }, "Switch on"),
    h("button", {type: "button", class: "bad quiet", onclick: forget}, "Forget…"),
  ];

  function drawButton(known) {
    setText(title, known.name);
    art.replaceChildren(picture(known.model));
    settings.replaceChildren(...[
      choice("Gestures that it waits for", "trigger_mode", triggerModes, known.trigger_mode, known.is_trigger_mode_fixed),
      known.latency_mode === null ? null : choice("Reaction", "latency_mode", latencyModes, known.latency_mode),
      known.led_mode === undefined ? null : choice("Lights", "led_mode", ledModes, known.led_mode),
    ].filter(Boolean));
    // These keep the focus while the battery or the signal changes, and so does the one that switches the button off and on.
    const isOther = known.is_connection_wanted !== drawn?.is_connection_wanted;
    if (isOther && !actions.querySelector(".sure")) {
      const index = [...actions.children].indexOf(document.activeElement);
      actions.replaceChildren(...actionButtons(known));
      actions.children[index]?.focus();
    }
    const wait = known.click_wait_ms === null ? "until the release" : duration(known.click_wait_ms);
    const pairs = {
      Model: modelWords(known.model), State: linkWords(known), Serial: known.serial, Address: known.address,
      Firmware: known.firmware, Battery: known.battery_mv === null ? "not known" : `${(known.battery_mv / 1000).toFixed(2)} V`,
      "A click waits": known.click_wait_rule ? `${wait}, because of ${known.click_wait_rule}` : wait,
      Presses: known.press_count, Radio: known.radio ?? "none", Paired: timeOrDate(Date.parse(known.paired_at)),
    };
    facts.replaceChildren(...Object.entries(pairs).flatMap(([key, value]) => [h("dt", {}, key), h("dd", {}, String(value))]));
  }

  return {
    element,
    open(buttonID) {
      id = buttonID;
      drawn = null;
      actions.replaceChildren();
      setText(message, "");
      name.value = button()?.name ?? "";
      this.draw(app.state());
      element.showModal();
    },
    draw(state) {
      if (id === null) return;
      const known = button();
      if (!known) return leave();
      if (known !== drawn && !settings.contains(document.activeElement)) {
        drawButton(known);
        drawn = known;
      }
      const mark = state.marks.at(-1);
      if (finding === null || !mark || mark.n < finding) return;
      finding = state.count;
      setText(message, mark.button === id ? `That was it: ${eventWords(mark.line)}.` : `That was ${mark.name}, not this one.`);
    },
  };
}
