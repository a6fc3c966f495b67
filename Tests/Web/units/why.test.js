import assert from "node:assert/strict";
import test from "node:test";

import {question, verdicts} from "../../../Sources/TryckWeb/Public/why.js";
import {nothing} from "../../../Sources/TryckWeb/Public/state.js";
import {button, event} from "./lines.js";

const explained = (id, stopped_by, reasons) => ({id, runs: stopped_by === null, stopped_by, reasons, steps: []});
const short = (list) => list.map(({rule, isRecorded, words, gates}) => [
  rule, isRecorded, words, gates.map(({name, text, isStop}) => `${name} ${text}${isStop ? " !" : ""}`)]);

test("what the daemon recorded counts, not what the rules make of such a press now", () => {
  const recorded = [{rule: "hall", outcome: "disabled", reason: "disabled at run time", run: null}];
  const now = [explained("hall", null, ["enabled: enabled", "queued: not stored by the button"])];
  assert.deepEqual(short(verdicts(recorded, now)), [
    ["hall", true, "did not run: it is disabled", ["enabled disabled at run time !"]]]);
});

test("gates that were passed come before the one that stopped the rule", () => {
  const recorded = [{rule: "hall", outcome: "dropped_cooldown", reason: "for another 2s", run: null}];
  const now = [explained("hall", null, [
    "enabled: enabled", "queued: not stored by the button", "conditions: states.lux < 20 is true (states.lux = 3)", "cooldown: over"])];
  assert.deepEqual(short(verdicts(recorded, now))[0][3], [
    "enabled passed", "queued not stored by the button", "conditions passed; now: states.lux < 20 is true (states.lux = 3)",
    "cooldown for another 2s !"]);
});

test("a rule that ran has passed all gates, whatever they would do now", () => {
  const recorded = [{rule: "hall", outcome: "started", reason: "", run: 7}];
  const now = [explained("hall", "dropped_conditions", ["enabled: enabled", "conditions: states.lux < 20 is false (states.lux = 31)"])];
  const [verdict] = verdicts(recorded, now);
  assert.deepEqual([verdict.words, verdict.run, verdict.gates.length], ["ran", 7, 6]);
  assert.ok(verdict.gates.every((gate) => !gate.isStop && !gate.text.includes("31")));
});

test("rules of which nothing was recorded are explained", () => {
  const now = [explained("hall", "dropped_conditions", ["enabled: enabled", "conditions: a: b is false"])];
  assert.deepEqual(short(verdicts([], now)), [
    ["hall", false, "would not run: the conditions are not met", ["enabled enabled", "conditions a: b is false !"]]]);
});

test("an explanation is asked for with the part, the turn, the time and the values", () => {
  const state = {...nothing, buttons: [button({model: "twist"})], rules: [{id: "a", enabled: false}, {id: "b", enabled: true}]};
  const line = event("rotate_counter_clockwise", 5000, {part: "dial", steps: -2000, position: 0, slot: 2, queued: true, age_ms: 70});
  const mark = {button: "80e4da000001", name: "kitchen", event: line.event, at: 5000, line, rules: []};
  assert.deepEqual(question(mark, state, [{name: "lux", value: 3}], []), {
    files: {}, button: "kitchen", id: "80e4da000001", model: "twist", event: "rotate_counter_clockwise", part: "dial",
    steps: 1000, position: 0, slot: 2, queued: true, age_ms: 70, at: "1970-01-01T00:00:05.000Z",
    live: {states: [{name: "lux", value: 3}], variables: [], rules: [{id: "a", enabled: false}]},
  });
});

test("a value without its secret, and a time that nobody knows, are not part of the question", () => {
  const mark = {button: "80e4da000001", name: "kitchen", event: "click", at: NaN, line: event("click", 0), rules: []};
  const asked = question(mark, nothing, [{name: "lux", value: 3}, {name: "code", value: {pin: "***"}}], [{name: "code", value: "***"}]);
  assert.deepEqual([asked.at, asked.live], [undefined, {states: [{name: "lux", value: 3}], variables: [], rules: []}]);
});
