// What the page knows, as a value. Every change is a pure function from one state to the next.

/**
 * @typedef {object} Press
 * @property {number} n a number that no other entry has
 * @property {string} button the id of the button
 * @property {string} part `big`, `small`, `push`, or empty for a button with one part
 * @property {number} from when it went down, in milliseconds since 1970 by the daemon's clock
 * @property {?number} to when it came up; null while it is down
 * @property {?number} arrived when the button told it, if that was later
 *
 * @typedef {object} Mark a gesture or another event of a button
 * @property {number} n
 * @property {string} button
 * @property {string} name the button's name at that time
 * @property {string} event
 * @property {number} at when it happened
 * @property {?number} arrived when the button told it, if that was later
 * @property {object} line the line of the stream
 * @property {{rule: string, outcome: string, reason: string, run: ?number}[]} rules what the rules made of it
 *
 * @typedef {object} Step
 * @property {number} at
 * @property {string} kind `publish`, `process`, `http`, `log` or `step_failed`
 * @property {object} line the line of the stream
 *
 * @typedef {object} Run a run of a rule, or a match that a gate stopped
 * @property {number} n
 * @property {string} rule
 * @property {?number} run the daemon's number of the run; null if a gate stopped it
 * @property {?string} button the button's name
 * @property {string} event
 * @property {number} from
 * @property {?number} to null while it runs
 * @property {string} outcome `started`, `completed`, `failed`, … or the name of the gate
 * @property {string} reason
 * @property {Step[]} steps
 *
 * @typedef {object} State
 * @property {"connecting"|"live"|"no_daemon"|"no_server"} link
 * @property {string} problem why the link is not live, as a sentence
 * @property {?object} status the daemon's answer to `status`
 * @property {object[]} buttons its answer to `buttons`, kept up to date
 * @property {object[]} rules its answer to `rules`, kept up to date
 * @property {?number} since when the first snapshot came
 * @property {?number} skew how much this machine's clock is ahead of the daemon's, in milliseconds
 * @property {Object<string, number>} held for each part that is down (`ID/PART`): since when
 * @property {Object<string, Mark>} latest the last mark of each button
 * @property {Press[]} presses
 * @property {Mark[]} marks
 * @property {Run[]} runs
 * @property {object[]} machine what `tryck doctor` found when Health was opened
 * @property {object[]} pairing the lines of the search that runs or ran last
 * @property {Object<string, object>} firmware the last line of each button's firmware update
 * @property {{rules: boolean, status: boolean, buttons: boolean}} stale which answers have to be asked for again
 * @property {number} count how many entries there have been
 */

/** The most presses, marks and runs that are kept, of each. */
export const mostEntries = 4000;

const fresh = Object.freeze({rules: false, status: false, buttons: false});

/** @type {State} */
export const nothing = Object.freeze({
  link: "connecting", problem: "", status: null, buttons: [], rules: [], since: null, skew: null, held: {}, latest: {},
  presses: [], marks: [], runs: [], machine: [], pairing: [], firmware: {}, stale: fresh, count: 0,
});

/** The key of a button's part in `held`. */
export const partKey = (id, part) => `${id}/${part ?? ""}`;

/** Whether the page knows how the buttons are now. It does not when the daemon or the server has gone. */
export const isKnown = (state) => state.link === "live" || state.link === "connecting";

/** The daemon's time for a time of this machine's clock. */
export const daemonTime = (state, receivedAt) => receivedAt - (state.skew ?? 0);

/**
 * The state after a snapshot: what is known of the daemon is replaced, the timeline is kept. What was down may have come
 * up unseen, so nothing is down any more.
 */
export function withSnapshot(state, snapshot, receivedAt) {
  const now = daemonTime(state, receivedAt);
  const end = (entry) => entry.to === null ? {...entry, to: now} : entry;
  return {
    ...state, ...snapshot, link: "live", problem: "", since: state.since ?? now, held: {},
    presses: state.presses.map(end), runs: state.runs.map(end), stale: fresh,
  };
}

/** The state after the daemon has gone. */
export const withoutDaemon = (state, sentence) => ({...state, link: "no_daemon", problem: sentence, held: {}});

/** The state after the connection to the server has gone. */
export const withoutServer = (state) => ({
  ...state, link: "no_server", held: {},
  problem: "The connection to tryck-web is lost. This page goes on by itself when it is back.",
});

/** The state after the server was heard again. If the daemon has gone, the server says so first. */
export const withServer = (state) =>
  state.link === "no_server" && state.status !== null ? {...state, link: "live", problem: ""} : state;

/** The state after the daemon has answered `status`, `buttons` or `rules`. */
export const withAnswer = (state, name, data) => ({...state, [name]: data, stale: {...state.stale, [name]: false}});

/**
 * The state with lines of the past before its own entries.
 *
 * @param {object[]} lines lines of the stream, each with the member `time`
 */
export function withPast(state, lines) {
  let past = {...nothing, count: -lines.length * 2};
  for (const line of lines) past = reduce(past, line, Date.parse(line.time));
  const before = (entries) => entries.filter((entry) => (entry.at ?? entry.from) < (state.since ?? Infinity));
  const joined = (key) => [...before(past[key]), ...state[key].filter((entry) => entry.n >= 0)].slice(-mostEntries);
  const live = Object.fromEntries(Object.entries(state.latest).filter(([, mark]) => mark.n >= 0));
  return {
    ...state, presses: joined("presses"), marks: joined("marks"), runs: joined("runs"), latest: {...past.latest, ...live},
  };
}

/**
 * The state after one line of the daemon's stream.
 *
 * @param {State} state
 * @param {object} line as `tryck watch --json` prints it
 * @param {number} receivedAt by this machine's clock, in milliseconds since 1970
 * @returns {State}
 */
export function reduce(state, line, receivedAt) {
  const reducer = reducers[line.kind];
  return reducer ? reducer(state, line, receivedAt) : state;
}

const reducers = {
  event: reduceEvent,
  rule: reduceRule,
  publish: reduceStep,
  process: reduceStep,
  http: reduceStep,
  log: reduceStep,
  changed: (state, {data}) => withButton(state, data.id, () => data, data),
  button: reduceButton,
  pairing: reducePairing,
  firmware: (state, line) => ({...state, firmware: {...state.firmware, [line.id]: line}}),
  rules: (state) => stale(state, "rules", "status"),
  adapter: (state) => stale(state, "status"),
  broker: (state) => stale(state, "status"),
  source: (state) => stale(state, "status"),
  space: (state) => stale(state, "status"),
  state_fault: (state) => stale(state, "status"),
  session_failed: (state) => stale(state, "status"),
};

const stale = (state, ...names) => ({
  ...state, stale: {...state.stale, ...Object.fromEntries(names.map((name) => [name, true]))},
});

function replaced(entries, index, entry) {
  const copy = entries.slice();
  copy[index] = entry;
  return copy;
}

function append(entries, entry) {
  // A quarter is dropped at once, so that not every line copies the whole list twice.
  const kept = entries.length < mostEntries ? entries : entries.slice(mostEntries / 4);
  return [...kept, entry];
}

// MARK: Buttons

function withButton(state, id, change, otherwise) {
  const index = state.buttons.findIndex((button) => button.id === id);
  if (index >= 0) return {...state, buttons: replaced(state.buttons, index, change(state.buttons[index]))};
  return otherwise ? {...state, buttons: [...state.buttons, otherwise]} : state;
}

function reduceButton(state, line) {
  if (line.state === "removed" || line.state === "unpaired") {
    return {...state, buttons: state.buttons.filter((button) => button.id !== line.id)};
  }
  const next = withButton(state, line.id, (button) => ({...button, state: line.state, radio: line.radio ?? button.radio}));
  return line.state === "ready" ? next : {...next, held: without(next.held, `${line.id}/`)};
}

const without = (held, prefix) =>
  Object.fromEntries(Object.entries(held).filter(([key]) => !key.startsWith(prefix)));

/** The most lines of a search that are kept. */
const mostPairingLines = 50;

function reducePairing(state, line) {
  const pairing = line.step === "searching" ? [line] : [...state.pairing, line].slice(-mostPairingLines);
  const next = {...state, pairing};
  // The line has not everything that is known of the new button.
  return line.step === "paired" ? stale(next, "buttons") : next;
}

function reduceEvent(state, line, receivedAt) {
  const at = Date.parse(line.at);
  const skew = line.queued || (line.event !== "down" && line.event !== "up") ? state.skew
    : Math.min(state.skew ?? Infinity, receivedAt - at);
  const now = receivedAt - (skew ?? 0);
  const arrived = line.queued ? now : null;
  const next = {...state, skew};
  switch (line.event) {
  case "down": return withPress(next, line, at, arrived);
  case "up": return withRelease(next, line, at);
  default: return withMark(next, line, line.queued ? at : now, arrived);
  }
}

function withPress(state, line, at, arrived) {
  const part = line.part ?? "";
  const press = {n: state.count, button: line.id, part, from: at, to: null, arrived};
  const held = line.queued ? state.held : {...state.held, [partKey(line.id, part)]: at};
  return {...state, held, presses: append(state.presses, press), count: state.count + 1};
}

function withRelease(state, line, at) {
  const part = line.part ?? "";
  const {[partKey(line.id, part)]: since, ...held} = state.held;
  const index = state.presses.findLastIndex(
    (press) => press.to === null && press.button === line.id && press.part === part);
  if (index < 0) return {...state, held};
  const press = state.presses[index];
  return {...state, held, presses: replaced(state.presses, index, {...press, to: Math.max(at, press.from)})};
}

function withMark(state, line, at, arrived) {
  const mark = {
    n: state.count, button: line.id, name: line.button, event: line.event, at, arrived, line, rules: [],
  };
  const next = {
    ...state, marks: append(state.marks, mark), latest: {...state.latest, [line.id]: mark}, count: state.count + 1,
  };
  if (line.position === undefined || line.slot === undefined) return next;
  const dial = line.slot ? `slot_${line.slot}` : "free";
  return withButton(next, line.id, (button) => ({
    ...button, positions: {...button.positions, [dial]: line.position},
  }));
}

// MARK: Rules

/** The most marks that are searched for the one that a rule's line is about. The line follows its event at once. */
const nearMarks = 100;

function reduceRule(state, line, receivedAt) {
  const now = daemonTime(state, receivedAt);
  switch (line.outcome) {
  case "started": return withRun(state, line, now, null);
  case "step_failed": return withStep(state, runIndex(state, line), line, now);
  case "completed": case "failed": case "cancelled": case "interrupted": return withRunEnded(state, line, now);
  default: return withRun(state, line, now, now);
  }
}

/** @param {?number} to null for a run; `from` for a match that a gate has stopped */
function withRun(state, line, from, to) {
  const run = {
    n: state.count, rule: line.rule, run: line.run ?? null, button: line.button, event: line.event, from, to,
    outcome: line.outcome, reason: line.reason ?? "", steps: [],
  };
  const next = {...state, runs: append(state.runs, run), count: state.count + 1};
  return withRuleOfMark(withRuleCounted(next, line, from), line);
}

function withRuleOfMark(state, line) {
  const first = Math.max(0, state.marks.length - nearMarks);
  const index = state.marks.findLastIndex(
    (mark, place) => place >= first && mark.name === line.button && mark.event === line.event);
  if (index < 0) return state;
  const mark = state.marks[index];
  const entry = {rule: line.rule, outcome: line.outcome, reason: line.reason ?? "", run: line.run ?? null};
  const changed = {...mark, rules: [...mark.rules, entry]};
  const latest = state.latest[mark.button] === mark ? {...state.latest, [mark.button]: changed} : state.latest;
  return {...state, latest, marks: replaced(state.marks, index, changed)};
}

function withRuleCounted(state, line, at) {
  return withRule(state, line.rule, (rule) => {
    const stats = {...rule.stats, [line.outcome]: (rule.stats[line.outcome] ?? 0) + 1, matched: rule.stats.matched + 1};
    const time = new Date(at).toISOString();
    const start = {result: null, started_at: time, duration_ms: null, button: line.button, event: line.event};
    const stop = {at: time, button: line.button, event: line.event, gate: line.outcome, reason: line.reason ?? ""};
    const latest = line.outcome === "started" ? {last_run: start} : {last_stopped: stop};
    return {...rule, stats, ...latest, last_outcome: line.outcome};
  });
}

function withRule(state, id, change) {
  const index = state.rules.findIndex((rule) => rule.id === id);
  return index < 0 ? state : {...state, rules: replaced(state.rules, index, change(state.rules[index]))};
}

const runIndex = (state, line) => state.runs.findLastIndex((run) => run.run === line.run && run.rule === line.rule);

function withRunEnded(state, line, now) {
  const counted = withRule(state, line.rule, (rule) => ({
    ...rule, last_outcome: line.outcome, last_run: rule.last_run && {...rule.last_run, result: line.outcome},
    stats: {...rule.stats, [line.outcome]: (rule.stats[line.outcome] ?? 0) + 1},
  }));
  const index = runIndex(state, line);
  if (index < 0) return counted;
  return {...counted, runs: replaced(state.runs, index, {...state.runs[index], to: now, outcome: line.outcome})};
}

/** A step of the run that the line names. Messages that name none are the daemon's own, about presses. */
function reduceStep(state, line, receivedAt) {
  return line.run === undefined ? state : withStep(state, runIndex(state, line), line, daemonTime(state, receivedAt));
}

function withStep(state, index, line, at) {
  if (index < 0) return state;
  const run = state.runs[index];
  const kind = line.outcome === "step_failed" ? "step_failed" : line.kind;
  return {...state, runs: replaced(state.runs, index, {...run, steps: [...run.steps, {at, kind, line}]})};
}
