// The page Now: the buttons as they look, and what happens.

import {createCard, releaseAll} from "./button-card.js";
import {createButtonDialog} from "./button-dialog.js";
import {drawList, h, setText} from "./dom.js";
import {createDetail, createHappenings} from "./happenings.js";
import {isKnown} from "./state.js";
import {createTimeline} from "./timeline.js";
import {count} from "./words.js";

/** How much of the past the timeline of this page shows, in milliseconds. */
const span = 30_000;
const mostHappenings = 12;
/** How much of the past is asked for when the page is opened, and how much if a button has done nothing in it, in milliseconds. */
const pasts = [3_600_000, 86_400_000];
/** With more buttons than that their cards are small. */
const mostLargeCards = 12;

/** @param {import("./main.js").App} app */
export function createNow(app) {
  const summary = h("p", {class: "lead"});
  const cards = h("ul", {class: "cards", "aria-label": "Buttons"});
  const none = h("p", {class: "hint panel"}, "There is no button yet. ", h("a", {href: "./#pair"}, "Pair one"), ".");
  const dialog = createButtonDialog(app);
  const detail = createDetail(app.state, () => timeline.select(null));
  const show = (found) => {
    timeline.select(found.entry.n);
    detail.show(found);
  };
  const timeline = createTimeline({span, onselect: show});
  const happenings = createHappenings({most: mostHappenings, onselect: show});
  const element = h(
    "div", {class: "now"}, h("div", {class: "heading"}, h("h1", {}, "Now"), summary), none, cards,
    h("div", {class: "columns"},
      h("section", {class: "panel", "aria-label": "Timeline"},
        h("header", {}, h("h2", {}, "The last half minute"), h("a", {href: "./#timeline"}, "Timeline")), timeline.element),
      h("section", {class: "panel", "aria-label": "Latest"}, h("header", {}, h("h2", {}, "Latest")), happenings.element)),
    detail.element, dialog.element);

  const actions = {
    press: (button, press) => app.ask("simulator/press", {button, press}),
    // It is sent also while the page is left, so that no button stays down.
    release: (button, press) => app.server.request("simulator/press", {button, press}, {keepalive: true}).catch(
      (refusal) => app.say(refusal.message)),
    open: (button) => dialog.open(button.id),
  };
  let isPastAsked = false;

  /** Asks for what happened before this page was opened, so that the cards have their last presses. */
  async function loadPast() {
    for (const length of pasts) {
      const {since, latest, buttons} = app.state();
      if (buttons.every((button) => latest[button.id])) return;
      await app.past.load(since - length);
    }
  }

  return {
    element,
    title: "Now",
    draw(state) {
      if (!isPastAsked && state.since !== null) {
        isPastAsked = true;
        loadPast();
      }
      setText(summary, sentence(state));
      cards.classList.toggle("compact", state.buttons.length > mostLargeCards);
      none.hidden = state.status === null || state.buttons.length > 0;
      drawList(cards, state.buttons, (button) => button.id, (button) => createCard(button, actions), state);
      timeline.draw(state);
      dialog.draw(state);
    },
    hidden() { releaseAll(); },
    frame(state, time) {
      timeline.frame(time);
      return happenings.draw(state, time);
    },
  };
}

/** How the buttons are, in one sentence. */
function sentence(state) {
  if (state.status === null) return "";
  const {length} = state.buttons;
  const ready = state.buttons.filter((button) => button.state === "ready").length;
  const low = state.buttons.filter((button) => button.battery_low).length;
  const batteries = low > 0 ? ` ${count(low, "battery").replace("batterys", "batteries")} low.` : "";
  if (length === 0) return "";
  const who = length === 1 ? "One button" : `${length} buttons`;
  if (!isKnown(state)) return `${who}; how they are is not known now.`;
  return `${who}, ${ready === length ? (length === 1 ? "ready" : "all ready") : `${ready} ready`}.${batteries}`;
}
