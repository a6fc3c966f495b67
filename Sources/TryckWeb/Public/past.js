// The past before this page was opened, which the pages share.

import * as server from "./server.js";
import {withPast} from "./state.js";

/** How long the daemon may take to write its latest lines into the history, with some time for doing so, in milliseconds. */
const writeDelay = 3000;
/** The last part of the past, which is asked for again when it is written, in milliseconds. */
const lastPart = 10_000;

/** @param {import("./main.js").App} app */
export function createPast(app) {
  /** The parts of the past that cannot be shown, as sentences. */
  const missing = new Set();
  /** The first time for which the past was asked for. */
  let known = Infinity;
  /** The lines of the past, each with the member `time`. */
  let lines = [];
  let isLastPartAwaited = false;

  async function ask(from, to) {
    const answer = await server.history(from, to);
    for (const gap of answer.gaps) missing.add(gap);
    return answer;
  }

  /** Shows the lines from that time on in place of those that are known of it. */
  function show(from, later) {
    lines = [...lines.filter((line) => Date.parse(line.time) < from), ...later];
    app.update((state) => withPast(state, lines));
  }

  async function loadLastPart() {
    const {since} = app.state();
    const from = Math.max(known, since - lastPart);
    if (from >= since) return;
    const answer = await ask(from, since).catch(() => null);
    if (answer?.isWhole) show(from, answer.lines);
  }

  return {
    missing,
    /** Asks for the past from that time on, as far as it is not known. */
    async load(from) {
      const {since} = app.state();
      if (since === null || from >= Math.min(since, known)) return;
      known = from;
      try {
        const answer = await ask(from, since);
        // A longer past was asked for meanwhile.
        if (known < from) return;
        show(from, answer.lines);
        // A shorter time is asked for again, because lines at the end are missing.
        if (!answer.isWhole) known = Infinity;
      } catch (refusal) {
        // Without a history the past cannot be asked for again.
        if (refusal.status === 501 || refusal.status === 404) known = -Infinity;
        else if (known === from) known = Infinity;
      }
      if (isLastPartAwaited) return;
      isLastPartAwaited = true;
      setTimeout(loadLastPart, writeDelay);
    },
  };
}
