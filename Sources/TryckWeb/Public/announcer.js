// Tells a screen reader what the buttons do.

import {setText} from "./dom.js";
import {eventWords} from "./words.js";

/** How much time is between two announcements, in milliseconds. A screen reader cannot say fifty presses a second. */
const period = 1000;
/** The most gestures that are said at once. */
const most = 3;

/** @param {Element} region a live region */
export function createAnnouncer(region) {
  let next = null;  // the number of the first mark that was not said
  let timer = null;
  let latest = null;
  let isEven = false;

  function say(state) {
    const marks = state.marks.filter((mark) => mark.n >= next);
    next = state.count;
    const words = marks.slice(-most).map((mark) => `${mark.name}: ${eventWords(mark.line)}.`);
    const others = marks.length > most ? `${marks.length - most} others. ` : "";
    // The same press again is another text, because a screen reader says nothing of a text that stays the same.
    isEven = !isEven;
    setText(region, others + words.join(" ") + (isEven ? "" : "\u00a0"));
  }

  function draw(state) {
    next ??= state.count;
    latest = state;
    const last = state.marks.at(-1);
    if (timer !== null || !last || last.n < next) return;
    say(state);
    timer = setTimeout(() => {
      timer = null;
      draw(latest);
    }, period);
  }

  return {draw};
}
