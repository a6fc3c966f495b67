import assert from "node:assert/strict";
import test from "node:test";

import {litLights, shownPosition, signalBars, trendPoints} from "../../../Sources/TryckWeb/Public/drawing.js";
import {diffLines, hunks} from "../../../Sources/TryckWeb/Public/diff.js";
import {unitsBefore} from "../../../Sources/TryckWeb/Public/editor.js";
import {findings, verdict} from "../../../Sources/TryckWeb/Public/findings.js";
import {pairingStage} from "../../../Sources/TryckWeb/Public/pair.js";
import {counters, lastOf} from "../../../Sources/TryckWeb/Public/rule-list.js";
import {nothing} from "../../../Sources/TryckWeb/Public/state.js";
import {duration, eventWords, lateWords, outcomeWords, shortened, tickWords} from "../../../Sources/TryckWeb/Public/words.js";
import {button, status} from "./lines.js";

test("events in words", () => {
  assert.equal(eventWords({event: "double_click"}), "double click");
  assert.equal(eventWords({event: "clicks_3"}), "3 clicks");
  assert.equal(eventWords({event: "click", part: "small"}), "click, small button");
  assert.equal(eventWords({event: "rotate_counter_clockwise", steps: -10, position: 15}), "turned left by 10, to 15");
  assert.equal(lateWords({queued: true, age_ms: 41_000}), "stored by the button, 41 s old");
  assert.equal(outcomeWords("dropped_queued"), "did not run: the press is too old");
  assert.equal(outcomeWords("dropped_by_the_future"), "did not run (dropped by the future)");
});

test("lengths of time in words", () => {
  assert.deepEqual([80, 1300, 240_000, 7_200_000, 260_000_000].map(duration), ["80 ms", "1.3 s", "4 min", "2 h", "3 days"]);
  assert.equal(shortened("kitchen", 5), "kitc…");
});

test("lights of a Twist", () => {
  assert.equal(litLights(50, "fill").filter(Boolean).length, 6);
  assert.equal(litLights(0, "fill").filter(Boolean).length, 0);
  assert.deepEqual(litLights(100, "point").lastIndexOf(true), 11);
  assert.equal(litLights(100, "none").filter(Boolean).length, 0);
  assert.equal(shownPosition({positions: {slot_1: 3, slot_4: 9}}, {line: {slot: 4}}), 9);
  assert.equal(shownPosition({positions: {slot_1: 3}}, undefined), 3);
  assert.deepEqual([-50, -75, -95].map(signalBars), [4, 2, 0]);
});

test("the line of a battery ends at the right, and leaves out weeks without a measurement", () => {
  assert.deepEqual(trendPoints([3200, null, 2600]), [[101.5, 2], [103.5, 14]]);
  assert.deepEqual(trendPoints([1000, 5000]), [[102.5, 26], [103.5, 2]]);
});

test("a comparison has every line of both texts once", () => {
  const lines = diffLines("a\nb\nc\nd", "a\nx\nc\nd\ne");
  assert.deepEqual(lines.map(({sign, text}) => sign + text), ["=a", "-b", "+x", "=c", "=d", "+e"]);
  assert.deepEqual(hunks(diffLines("1\n2\n3\n4\n5\n6\n7\n8\n9", "1\n2\n3\n4\n5\n6\n7\n8\nz"), 1).map((line) => line && line.sign + line.text), ["=8", "-9", "+z"]);
  assert.deepEqual(hunks(diffLines("same", "same")), []);
});

test("findings: problems first, each with a command", () => {
  const well = {...nothing, link: "live", status: status(), buttons: [button()]};
  assert.equal(verdict(findings(well)), "All is well.");
  const fault = "the broker does not answer: connection refused";
  const ill = {...well, status: status({faults: [fault], broker: {url: "mqtt://localhost", state: "disconnected"}})};
  assert.deepEqual(findings(ill)[0], {state: "problem", check: "broker", sentence: fault, mend: "tryck doctor"});
  assert.equal(verdict(findings(ill)), "1 thing does not work.");
  const low = {...well, buttons: [button({battery_low: true, battery_mv: 2600})]};
  assert.match(findings(low)[0].sentence, /2\.60 V.*CR2032/);
  assert.equal(findings({...well, link: "no_daemon", problem: "gone"})[0].mend, "sudo systemctl restart tryck");
});

test("times that doctor found are those of this place", () => {
  const machine = [{state: "ok", check: "clock", sentence: "2020-03-01T12:30:05.250Z", mend: null}];
  const clock = findings({...nothing, link: "live", status: status(), machine}).find(({check}) => check === "clock");
  assert.match(clock.sentence, / \d\d:30:05$/);
  assert.doesNotMatch(clock.sentence, /Z/);
});

test("what doctor finds stands among the other findings, and nothing twice", () => {
  const fault = "flicd://attic:5551 does not answer.";
  const state = {...nothing, link: "live", status: status({faults: [fault]}), buttons: [button()], machine: [
    {state: "ok", check: "clock", sentence: "2026-11-21T12:00:00.000Z", mend: null},
    {state: "ok", check: "rules", sentence: "home.yaml: 3 rules", mend: null},
    {state: "problem", check: "sources", sentence: "flicd://attic:5551 does not answer", mend: "curl -v telnet://attic:5551"},
  ]};
  const all = findings(state);
  assert.deepEqual(all.filter(({state}) => state === "problem").map(({check}) => check), ["sources"]);
  assert.equal(all.filter(({check}) => check === "clock").length, 1);
  assert.equal(all.filter(({check}) => check === "rules").length, 1);
});

test("a fault of a radio is named once", () => {
  const radio = {name: "hci0", state: "failed", fault: "the adapter is gone", advice: "Plug it in.", links: 0, waiting: []};
  const ill = {...nothing, link: "live", status: status({faults: ["the adapter is gone"], radios: [radio]})};
  assert.deepEqual(findings(ill).filter(({state}) => state === "problem").map(({sentence}) => sentence), ["hci0: the adapter is gone Plug it in."]);
});

test("steps of pairing", () => {
  const stages = (lines) => lines.map((_, index) => pairingStage(lines.slice(0, index + 1)).stage);
  assert.equal(pairingStage([]).stage, "idle");
  assert.deepEqual(
    stages(["searching", "found_private", "found_public", "connecting", "verifying", "paired", "ended"].map((step) => ({step, button: "b"}))),
    ["hold", "hold", "check", "check", "check", "done", "done"]);
  assert.equal(pairingStage([{step: "searching"}, {step: "ended"}]).stage, "failed");
  assert.equal(pairingStage([{step: "searching"}, {step: "failed", advice: "Hold it longer."}]).sentence, "Hold it longer.");
});

test("rules: counters, and what came last", () => {
  const run = {result: "completed", started_at: "2026-11-26T10:00:00Z"};
  const stats = {started: 12, failed: 1, dropped_cooldown: 2, disabled: 1};
  assert.equal(counters({stats, last_run: run}), "12 runs, 1 failed, 3 stopped");
  assert.equal(counters({stats: {started: 0}, last_run: null}), "0 runs");
  // The counters of a rule that was changed begin anew, and its last run is kept.
  assert.equal(counters({stats: {}, last_run: run}), "0 runs since it was changed");
  assert.equal(counters({stats: {started: 0, disabled: 2}, last_run: run}), "0 runs since it was changed, 2 stopped");
  const stop = {at: "2026-11-26T10:00:01Z", gate: "dropped_rate"};
  assert.equal(lastOf({last_run: run, last_stopped: stop}).outcome, "dropped_rate");
  assert.equal(lastOf({last_run: run, last_stopped: null}).outcome, "completed");
  assert.equal(lastOf({last_run: null, last_stopped: null}), null);
});

test("the lines of an axis are labelled with days where they are days apart", () => {
  const noon = new Date(2026, 10, 30, 12, 5, 7).getTime();
  const midnight = new Date(2026, 10, 30).getTime();
  assert.equal(tickWords(noon, 5000), "12:05:07");
  assert.equal(tickWords(noon, 300_000), "12:05");
  assert.match(tickWords(midnight, 86_400_000), /30/);
  assert.match(tickWords(midnight, 21_600_000), /30/);
  assert.doesNotMatch(tickWords(midnight, 86_400_000), /00:00/);
});

test("columns count code points, and the editor counts UTF-16 units", () => {
  assert.deepEqual([1, 2, 3, 9].map((column) => unitsBefore("a😀b", column)), [0, 1, 3, 4]);
});
