// What the page says: events, outcomes, times and lengths in words.

const pad = (number, digits = 2) => String(number).padStart(digits, "0");

/** The local time of day: `19:11:07`. */
export function clockTime(milliseconds) {
  const date = new Date(milliseconds);
  return `${pad(date.getHours())}:${pad(date.getMinutes())}:${pad(date.getSeconds())}`;
}

/** The local time of day, with the date in front of it when that is not today's. */
export function timeOrDate(milliseconds, now = Date.now()) {
  const date = new Date(milliseconds);
  if (date.toDateString() === new Date(now).toDateString()) return clockTime(milliseconds);
  return `${date.toLocaleDateString(undefined, {day: "numeric", month: "short"})} ${clockTime(milliseconds)}`;
}

/** A day in milliseconds. */
const day = 86_400_000;

/** The label of a line of an axis whose lines are that many milliseconds apart: `19:11:07`, `19:11`, or `Mon, Nov 30`. */
export function tickWords(milliseconds, step) {
  const date = new Date(milliseconds);
  const isMidnight = date.getHours() === 0 && date.getMinutes() === 0 && date.getSeconds() === 0;
  if (step >= day || (isMidnight && step >= 3_600_000)) {
    return date.toLocaleDateString(undefined, {weekday: "short", day: "numeric", month: "short"});
  }
  return step >= 60_000 ? clockTime(milliseconds).slice(0, 5) : clockTime(milliseconds);
}

/** `Nov 2025`. */
export const monthAndYear = (milliseconds) =>
  new Date(milliseconds).toLocaleDateString(undefined, {month: "short", year: "numeric"});

/** A length of time: `80 ms`, `1.3 s`, `4 min`, `2 h`, `3 days`. */
export function duration(milliseconds) {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  const seconds = milliseconds / 1000;
  if (seconds < 60) return `${Number(seconds.toFixed(1))} s`;
  if (seconds < 3600) return `${Math.round(seconds / 60)} min`;
  if (seconds < 48 * 3600) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86400)} days`;
}

/** `1 rule`, `2 rules`. */
export const count = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;

/** A name of the interface as words: `double_click` becomes `double click`. */
export const spaced = (name) => String(name).replaceAll("_", " ");

/** The start of a text that is longer than that, with an ellipsis. */
export const shortened = (text, length) => text.length <= length ? text : `${text.slice(0, length - 1)}…`;

/**
 * An event of a button: `double click`, `3 clicks`, `turned right by 25, to 40`.
 *
 * @param {object} line a line of the stream whose kind is `event`
 */
export function eventWords(line) {
  const part = line.part === "small" ? ", small button" : line.part === "push" ? ", pushed" : "";
  if (line.steps !== undefined) {
    const way = line.event === "rotate_clockwise" ? "right" : "left";
    const position = line.position === undefined ? "" : `, to ${line.position}`;
    return `turned ${way} by ${Math.abs(line.steps)}${position}${part}`;
  }
  const clicks = /^clicks_(\d)$/.exec(line.event);
  return (clicks ? `${clicks[1]} clicks` : spaced(line.event)) + part;
}

/** When an event came that the button had kept, and how old it was; empty for others. */
export const lateWords = (line) =>
  !line.queued ? "" : line.reason === "link_lost" ? `the link was lost at least ${duration(line.age_ms)} before`
    : `stored by the button, ${duration(line.age_ms)} old`;

const outcomes = {
  started: "runs",
  completed: "done",
  failed: "failed",
  cancelled: "cancelled",
  interrupted: "interrupted by a restart",
  dropped_queued: "did not run: the press is too old",
  dropped_conditions: "did not run: the conditions are not met",
  dropped_cooldown: "did not run: the cooldown is not over",
  dropped_rate: "did not run: the rate limit is reached",
  dropped_busy: "did not run: another run is not finished",
  disabled: "did not run: it is disabled",
  not_matched: "has not run yet",
};

/** What became of a rule. */
export const outcomeWords = (outcome) => outcomes[outcome] ?? `did not run (${spaced(outcome)})`;

const shortOutcomes = {
  started: "runs", completed: "done", dropped_queued: "stopped: too old", dropped_conditions: "stopped: conditions",
  dropped_cooldown: "stopped: cooldown", dropped_rate: "stopped: rate limit", dropped_busy: "stopped: busy",
  disabled: "stopped: disabled",
};

/** What became of a rule, in two words or three. */
export const shortOutcome = (outcome) => shortOutcomes[outcome] ?? spaced(outcome);

/** `good`, `bad` or `doubtful`: how an outcome looks. */
export function outcomeTone(outcome) {
  if (outcome === "started" || outcome === "completed") return "good";
  return outcome === "failed" || outcome === "interrupted" ? "bad" : "doubtful";
}

const steps = {
  publish: (line) => ({title: "message", text: `${line.topic} ${line.payload}`, output: "", tone: "good"}),
  process: (line) => ({
    title: "program", text: `${line.command.join(" ")} — exit ${line.status}, ${line.duration_ms} ms`,
    output: (line.stdout + line.stderr).trimEnd(), tone: line.status === 0 ? "good" : "bad",
  }),
  http: (line) => ({
    title: "web hook", text: `${line.method} ${line.url} — ${line.status ?? line.reason}`, output: "",
    tone: line.status >= 200 && line.status < 300 ? "good" : "bad",
  }),
  log: (line) => ({title: "log", text: line.message, output: "", tone: line.level === "error" ? "bad" : "good"}),
  step_failed: (line) => ({title: spaced(line.step), text: `failed: ${line.reason} (${line.code})`, output: "", tone: "bad"}),
};

/**
 * A step of a run in one line: a title and the rest. `steps` has an entry for each kind that `state.js` makes a step.
 *
 * @returns {{title: string, text: string, output: string, tone: string}}
 */
export const stepWords = ({kind, line}) => steps[kind](line);

/** The state of a button's link for people. */
export function linkWords(button) {
  if (button.waits_for_space) return "waits for a free connection";
  if (!button.is_connection_wanted) return "switched off here";
  switch (button.state) {
  case "ready": return "ready";
  case "connecting": return "not in reach";
  case "disconnected": return "not connected";
  default: return spaced(button.state);
  }
}

/** The name of a model. */
export const modelWords = (model) => ({flic2: "Flic 2", duo: "Flic Duo", twist: "Flic Twist"})[model] ?? model;

/** A line of `pairing` as a sentence; empty for steps that need none. */
export function pairingWords(step) {
  const who = step.address ?? "the button";
  switch (step.step) {
  case "searching": return "Looking for new buttons.";
  case "found_private": return `${who} is in range, but not in pairing mode. Hold it down for 7 seconds.`;
  case "found_public": return `Found ${who}.`;
  case "already_paired": return `${who} is paired already. Still looking for others.`;
  case "connecting": return `Connecting to ${who}.`;
  case "connected": return `Connected to ${who}.`;
  case "verifying": return `Checking that ${who} is a genuine Flic.`;
  case "paired": return `${step.button} is paired.`;
  case "failed": return step.advice;
  case "ended": return "No longer looking for new buttons.";
  default: return "";
  }
}
