// What is wrong, and the command that mends it, from the daemon's answers, and from what `tryck doctor` found in the files and on
// the machine.

import {count, timeOrDate} from "./words.js";

/**
 * @typedef {object} Finding
 * @property {"ok"|"warning"|"problem"} state
 * @property {string} check what was looked at
 * @property {string} sentence
 * @property {?string} mend a command; null where none is needed
 */

const ok = (check, sentence) => ({state: "ok", check, sentence, mend: null});
const warning = (check, sentence, mend) => ({state: "warning", check, sentence, mend});
const problem = (check, sentence, mend) => ({state: "problem", check, sentence, mend});

/**
 * The findings, problems first.
 *
 * @param {import("./state.js").State} state
 * @returns {Finding[]}
 */
export function findings(state) {
  if (state.link === "no_server") return [problem("page", state.problem, "sudo systemctl restart tryck-web")];
  if (state.link === "no_daemon") return [problem("daemon", state.problem, "sudo systemctl restart tryck")];
  if (state.status === null) return [];
  const {status} = state;
  const live = [
    ...faults(status), ...status.warnings.map((sentence) => warning("daemon", sentence, "tryck doctor")),
    ok("daemon", `${status.version}, up for ${upTime(status.uptime_s)}`), ...radios(status), ...broker(status),
    ...rules(status), ...buttons(state),
  ];
  const all = joined(live, state.machine);
  const order = {problem: 0, warning: 1, ok: 2};
  return all.map((finding, index) => [finding, index])
    .sort(([a, i], [b, j]) => order[a.state] - order[b.state] || i - j).map(([finding]) => finding);
}

/** What is shown if `tryck doctor` could not be run. */
export const doctorFailed = (sentence) => warning("doctor", sentence, "tryck doctor");

/**
 * The findings of both kinds. What both say is said once, with the command of `tryck doctor`, which knows the files. The daemon's
 * sentence says more of a part that is well.
 */
function joined(live, machine) {
  const plain = ({sentence}) => sentence.replace(/\.$/, "");
  const told = new Set(machine.filter(({state}) => state !== "ok").map(plain));
  const isWell = new Set(live.filter(({state}) => state === "ok").map(({check}) => check));
  return [
    ...live.filter((finding) => !told.has(plain(finding))),
    ...machine.filter(({state, check}) => state !== "ok" || !isWell.has(check)).map(withLocalTimes),
  ];
}

/** A finding whose times, which `tryck doctor` writes in UTC, are those of this place, as everywhere on the page. */
const withLocalTimes = (finding) => ({
  ...finding,
  sentence: finding.sentence.replace(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, (time) => timeOrDate(Date.parse(time))),
});

/** Faults that belong to none of the parts below, which name their own. */
function faults(status) {
  const named = new Set([...status.radios.map((radio) => radio.fault)].filter(Boolean));
  const isBroker = (sentence) => status.broker.state === "disconnected" && /broker|mqtt|mosquitto/i.test(sentence);
  const isRules = (sentence) => status.rules.state !== "ok" && /rule/i.test(sentence);
  return status.faults.filter((sentence) => !named.has(sentence)).map((sentence) =>
    problem(
      isBroker(sentence) ? "broker" : isRules(sentence) ? "rules" : "daemon", sentence,
      isRules(sentence) ? "tryck check" : "tryck doctor"));
}

function radios(status) {
  return status.radios.map((radio) => {
    if (radio.fault) return problem("radio", `${radio.name}: ${radio.fault}${radio.advice ? ` ${radio.advice}` : ""}`, "sudo tryck doctor");
    if (radio.state !== "ready") return warning("radio", `${radio.name}: ${radio.state.replaceAll("_", " ")}`, "tryck radios");
    if (radio.advice) return warning("radio", `${radio.name}: ${radio.advice}`, "tryck radios");
    if (radio.waiting?.length) {
      return warning("radio", `${radio.name} has no free connection for ${radio.waiting.join(", ")}`, "tryck radios");
    }
    return ok("radio", `${radio.name} has ${count(radio.links, "connection")}${radio.limit ? ` of ${radio.limit}` : ""}`);
  });
}

function broker({broker}) {
  switch (broker.state) {
  case "connected": return [ok("broker", `connected to ${broker.url}`)];
  case "none": return [ok("broker", "none is used (mqtt.broker: none)")];
  default: return [];  // A fault says why.
  }
}

function rules({rules}) {
  const contradictions = (rules.contradictions ?? []).map((sentence) => warning("rules", sentence, "tryck check"));
  const notices = (rules.notices ?? []).map((sentence) => warning("rules", sentence, rules.loaded ? "tryck pair" : "tryck doctor"));
  if (rules.state !== "ok") return contradictions;
  return [ok("rules", `${count(rules.loaded, "rule")} loaded, ${count(rules.started, "run")}, ${rules.failed} failed`), ...contradictions, ...notices];
}

function buttons(state) {
  const low = state.buttons.filter((button) => button.battery_low).map((button) =>
    warning("battery", `${button.name}: ${(button.battery_mv / 1000).toFixed(2)} V. Change it: a CR2032.`, null));
  const ready = state.buttons.filter((button) => button.state === "ready").length;
  return [...low, ok("buttons", `${ready} of ${state.buttons.length} ready`)];
}

/** A time in seconds: `37 s`, `12 min`, `5 h`, `3 days`. */
function upTime(seconds) {
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86_400)} days`;
}

/** The whole state in one sentence. */
export function verdict(all) {
  const problems = all.filter((finding) => finding.state === "problem").length;
  const warnings = all.filter((finding) => finding.state === "warning").length;
  if (problems) return count(problems, "thing") + (problems === 1 ? " does not work." : " do not work.");
  return warnings ? `It works. ${count(warnings, "thing")} to look at.` : all.length ? "All is well." : "";
}
