// Why each rule ran or did not, gate by gate: what the daemon recorded for the event, and what `explain` adds to it.

import {h} from "./dom.js";
import * as server from "./server.js";
import {duration, outcomeTone, outcomeWords, spaced} from "./words.js";

/** The gates in the order in which the daemon asks them: the name of each, and the outcome of a rule that it has stopped. */
const gates = [
  ["enabled", "disabled"], ["queued", "dropped_queued"], ["conditions", "dropped_conditions"],
  ["cooldown", "dropped_cooldown"], ["rate_limit", "dropped_rate"], ["mode", "dropped_busy"],
];

/** The outcomes of a rule that has passed all gates. */
const ran = new Set(["started", "completed", "failed", "cancelled", "interrupted"]);

/** The greatest turn that can be explained, in hundredths of a whole turn. */
const mostSteps = 1000;

/**
 * @typedef {object} Verdict
 * @property {string} rule
 * @property {boolean} isRecorded false if the daemon has recorded nothing of this rule for the event
 * @property {string} words
 * @property {"good"|"bad"|"doubtful"} tone
 * @property {?number} run
 * @property {{name: string, text: string, isStop: boolean}[]} gates those that were asked
 */

/**
 * What became of each rule. What was recorded counts: an explanation is about the present values, so it only adds the
 * words of gates that were passed and are passed now, and rules of which nothing was recorded.
 *
 * @param {{rule: string, outcome: string, reason: string, run: ?number}[]} recorded
 * @param {object[]} explained the rules of an answer to `explain`
 * @returns {Verdict[]}
 */
export function verdicts(recorded, explained) {
  const others = explained.filter(({id}) => !recorded.some(({rule}) => rule === id));
  return [
    ...recorded.map((entry) => recordedVerdict(entry, explained.find(({id}) => id === entry.rule))),
    ...others.map(explainedVerdict),
  ];
}

function recordedVerdict({rule, outcome, reason, run}, explanation) {
  const stop = ran.has(outcome) ? gates.length : gates.findIndex(([, name]) => name === outcome);
  const passed = gates.slice(0, Math.max(0, stop)).map(([name]) => ({name, text: passedWords(name, explanation), isStop: false}));
  const last = ran.has(outcome) ? [] : [{name: gates[stop]?.[0] ?? outcome, text: reason || outcomeWords(outcome), isStop: true}];
  return {
    rule, isRecorded: true, run, words: ran.has(outcome) ? "ran" : outcomeWords(outcome), tone: outcomeTone(outcome),
    gates: [...passed, ...last],
  };
}

/** The words of a gate that was passed, if an explanation knows them. */
function passedWords(name, explanation) {
  const reason = reasonsOf(explanation).find((entry) => entry.name === name && !entry.isStop);
  // What the press was has not changed; values may have.
  if (reason && (name === "queued" || reason.text === "none")) return reason.text;
  return name === "conditions" && reason ? `passed; now: ${reason.text}` : "passed";
}

const explainedVerdict = (rule) => ({
  rule: rule.id, isRecorded: false, run: null, tone: rule.runs ? "good" : "doubtful", gates: reasonsOf(rule),
  words: rule.runs ? "would run" : outcomeWords(rule.stopped_by).replace("did not run", "would not run"),
});

/** The reasons of an explained rule, which look like `conditions: states.lux < 20 is true`. */
function reasonsOf(rule) {
  const stop = gates.find(([, outcome]) => outcome === rule?.stopped_by)?.[0];
  return (rule?.reasons ?? []).map((reason) => {
    const [name, ...rest] = reason.split(": ");
    return {name, text: rest.join(": "), isStop: name === stop};
  });
}

/** False for a value in which the daemon has replaced a secret: a condition must not be explained with asterisks. */
const isWhole = ({value}) => !JSON.stringify(value ?? null).includes("***");

/** The body of the question what a mark's event does now. */
export function question(mark, state, states, variables) {
  const {line} = mark;
  const model = state.buttons.find((button) => button.id === mark.button)?.model;
  const rules = state.rules.filter((rule) => !rule.enabled).map(({id}) => ({id, enabled: false}));
  return {
    files: {}, button: mark.name, id: mark.button, event: mark.event, queued: Boolean(line.queued), age_ms: line.age_ms ?? 0,
    live: {states: states.filter(isWhole), variables: variables.filter(isWhole), rules},
    ...(Number.isFinite(mark.at) ? {at: new Date(mark.at).toISOString()} : {}),
    ...(model && model !== "flic1" ? {model} : {}), ...(line.part ? {part: line.part} : {}),
    ...(line.steps ? {steps: Math.min(mostSteps, Math.abs(line.steps)), position: line.position} : {}),
    ...(line.slot ? {slot: line.slot} : {}),
  };
}

/** The steps of a run as the daemon recorded them, with the values in their conditions; empty if it is forgotten. */
async function recordedSteps({rule, run}) {
  if (run === null) return [];
  const {runs} = await server.request("rules/trace", {id: rule}).catch(() => ({runs: []}));
  return runs.find((entry) => entry.run === run)?.steps ?? [];
}

/**
 * Why each rule ran or did not, as an element.
 *
 * @param {import("./state.js").Mark} mark
 * @param {import("./state.js").State} state
 * @param {import("./state.js").Run[]} runs those whose steps are shown already
 */
export async function createWhy(mark, state, runs = []) {
  const live = (name) => server.request(name).catch(() => []);
  const [states, variables] = await Promise.all([live("states"), live("variables")]);
  let refusal = null;
  const {rules} = await server.explain(question(mark, state, states, variables)).catch((reason) => {
    refusal = reason;
    return {rules: []};
  });
  const found = verdicts(mark.rules, rules ?? []);
  const recordedOf = await Promise.all(found.map(recordedSteps));
  // What the daemon recorded is shown if it has more, such as delays. The same steps are not said twice.
  const known = (verdict) => runs.find((run) => run.rule === verdict.rule && run.run === verdict.run)?.steps.length ?? 0;
  const steps = recordedOf.map((list, index) => new Set(list.map(({step}) => step)).size > known(found[index]) ? list : []);
  const [recorded, others] = [true, false].map((isRecorded) => found
    .map((verdict, index) => ({verdict, steps: steps[index]})).filter(({verdict}) => verdict.isRecorded === isRecorded)
    .map((item) => drawVerdict(item, found.length <= 2)));
  const note = (text) => h("p", {class: "muted"}, text);
  return h("div", {},
    ...(recorded.length ? [note("As the daemon recorded it:"), ...recorded] : []),
    ...(others.length ? [note("Nothing was recorded of these. With the rules and values as they are now, they make this of such a press:"), ...others] : []),
    refusal && mark.rules.length === 0 ? note(`It cannot be explained: ${refusal.message}`) : null,
    !refusal && found.length === 0 ? h("p", {}, "No rule is about this event.") : null);
}

const drawVerdict = ({verdict, steps}, isOpen) => h(
  "details", {class: "why", open: isOpen},
  h("summary", {}, h("span", {class: `dot ${verdict.tone}`}), verdict.rule, h("span", {class: "muted"}, ` ${verdict.words}`)),
  h("ul", {}, verdict.gates.map(({name, text, isStop}) => h(
    "li", {class: isStop ? "stopped" : ""}, h("b", {}, spaced(name)), ` ${text}`))),
  ...(steps.length === 0 ? [] : [h("p", {}, "Then it did:"), h("ol", {}, steps.map((step) => h(
    "li", {}, h("span", {class: "after"}, `+${duration(step.after_ms)}`), h("b", {}, step.step), ` ${step.text}`)))]));
