import assert from "node:assert/strict";
import test from "node:test";

import {happenings} from "../../../Sources/TryckWeb/Public/happenings.js";
import {mostEntries, nothing, reduce, withoutDaemon, withoutServer, withPast, withServer, withSnapshot} from "../../../Sources/TryckWeb/Public/state.js";
import {linkWords} from "../../../Sources/TryckWeb/Public/words.js";
import {at, button, event, program, publish, rule, status} from "./lines.js";

const start = 1_000_000;
const id = "80e4da000001";
const rules = [{id: "kitchen_toggle", enabled: true, stats: {matched: 0, started: 0, completed: 0}, last_run: null, last_stopped: null}];
const begun = withSnapshot(nothing, {status: status(), buttons: [button()], rules}, start);
const after = (lines, state = begun) => lines.reduce((known, [line, time]) => reduce(known, line, time), state);

test("a part is down from its down to its up", () => {
  const down = after([[event("down", start), start]]);
  assert.deepEqual(down.held, {[`${id}/`]: start});
  const up = after([[event("up", start + 80), start + 80]], down);
  assert.deepEqual(up.held, {});
  assert.deepEqual(up.presses.map(({from, to, arrived}) => [from, to, arrived]), [[start, start + 80, null]]);
});

test("the parts of a Duo are down independently", () => {
  const both = after([[event("down", start, {part: "big"}), start], [event("down", start + 1, {part: "small"}), start + 1]]);
  assert.deepEqual(Object.keys(both.held), [`${id}/big`, `${id}/small`]);
  assert.deepEqual(Object.keys(after([[event("up", start + 9, {part: "big"}), start + 9]], both).held), [`${id}/small`]);
});

test("a late press is at the time it happened, and is not down now", () => {
  const late = after([
    [event("down", start - 5000, {queued: true, age_ms: 5000}), start],
    [event("click", start - 5000, {queued: true, age_ms: 5000}), start],
  ]);
  assert.deepEqual(late.held, {});
  assert.deepEqual([late.presses[0].from, late.presses[0].arrived], [start - 5000, start]);
  assert.deepEqual([late.marks[0].at, late.marks[0].arrived], [start - 5000, start]);
});

test("the difference between both clocks is that of the quickest line", () => {
  const state = after([[event("down", start), start + 900], [event("up", start + 80), start + 985]]);
  assert.equal(state.skew, 900);
  assert.equal(after([[event("click", start), start + 1400]], state).marks[0].at, start + 500);
});

test("a run has its steps, its end, and belongs to the gesture that started it", () => {
  const state = after([
    [event("click", start), start], [rule("started"), start],
    [publish("tryck/80e4da000001/action", "click"), start], [publish("zigbee2mqtt/kitchen/set", "{}", {rule: "kitchen_toggle", run: 1}), start + 1],
    [rule("completed"), start + 2],
  ]);
  const [run] = state.runs;
  assert.deepEqual([run.outcome, run.from, run.to], ["completed", start, start + 2]);
  assert.deepEqual(run.steps.map((step) => step.line.topic), ["zigbee2mqtt/kitchen/set"]);
  assert.deepEqual(state.marks[0].rules, [{rule: "kitchen_toggle", outcome: "started", reason: "", run: 1}]);
  assert.equal(state.latest[id], state.marks[0]);
  assert.deepEqual([state.rules[0].stats.started, state.rules[0].stats.completed, state.rules[0].last_run.result], [1, 1, "completed"]);
});

test("messages belong to the run that published them, also while another rule runs", () => {
  const slow = {rule: "slow", run: 1};
  const quick = {rule: "quick", run: 1};
  const state = after([
    [event("click", start), start], [rule("started", slow), start],
    [publish("my/lamp/action", '{"event_type":"x"}', slow), start],
    [rule("started", quick), start + 1], [publish("quick", "one", quick), start + 2],
    [publish("slow/second", "two", slow), start + 3], [rule("completed", quick), start + 4], [rule("completed", slow), start + 5],
    // A message of the last step may be told after the end of its run.
    [publish("slow/third", "three", slow), start + 6],
  ]);
  const topics = (name) => state.runs.find((run) => run.rule === name).steps.map((step) => step.line.topic);
  assert.deepEqual(topics("slow"), ["my/lamp/action", "slow/second", "slow/third"]);
  assert.deepEqual(topics("quick"), ["quick"]);
});

test("runs of one rule that overlap have their own steps", () => {
  const state = after([
    [event("click", start), start], [rule("started", {run: 1}), start],
    [event("click", start + 10), start + 10], [rule("started", {run: 2}), start + 10],
    [program("first", 1), start + 20], [program("second", 2), start + 30],
    [publish("a", "1", {rule: "kitchen_toggle", run: 1}), start + 40],
  ]);
  assert.deepEqual(state.runs.map((run) => run.steps.map((step) => step.line.command?.[0] ?? step.line.topic)), [["first", "a"], ["second"]]);
});

test("the gate that stopped a rule is kept with its reason", () => {
  const state = after([[event("click", start), start], [rule("dropped_cooldown", {run: undefined, reason: "2 s left"}), start]]);
  assert.deepEqual([state.runs[0].run, state.runs[0].to, state.runs[0].reason], [null, start, "2 s left"]);
  assert.equal(state.marks[0].rules[0].outcome, "dropped_cooldown");
  assert.equal(state.rules[0].last_stopped.gate, "dropped_cooldown");
});

test("a snapshot ends what was down, and keeps the timeline", () => {
  const down = after([[event("down", start), start]]);
  const back = withSnapshot(withoutDaemon(down, "gone"), {status: status(), buttons: [], rules: []}, start + 100);
  assert.deepEqual([back.link, back.held, back.presses[0].to, back.since], ["live", {}, start + 100, start]);
});

test("a button that is removed is gone, and one that is paired is there", () => {
  const removed = after([[{kind: "button", id, button: "kitchen", state: "removed"}, start]]);
  assert.deepEqual(removed.buttons, []);
  const other = button({id: "80e4da000002", name: "hall"});
  assert.deepEqual(after([[{kind: "changed", button: "hall", data: other}, start]]).buttons.map(({name}) => name), ["kitchen", "hall"]);
});

test("a button that is paired has to be asked for", () => {
  const paired = after([[{kind: "pairing", step: "searching"}, start], [{kind: "pairing", step: "paired", id, button: "kitchen"}, start]]);
  assert.deepEqual([paired.stale.buttons, paired.stale.rules, paired.pairing.length], [true, false, 2]);
});

test("a lost connection lets go of the button", () => {
  const down = after([[event("down", start), start]]);
  assert.deepEqual(after([[{kind: "button", id, button: "kitchen", state: "disconnected"}, start]], down).held, {});
});

test("a button that waits for a free connection is shown as waiting until the daemon says that it does not", () => {
  const waiting = after([[{kind: "changed", button: "kitchen", data: button({waits_for_space: true, state: "connecting"})}, start]]);
  assert.equal(linkWords(waiting.buttons[0]), "waits for a free connection");
  const ready = after([
    [{kind: "button", button: "kitchen", id, state: "ready"}, start + 1], [{kind: "space", waiting: []}, start + 2],
    [{kind: "changed", button: "kitchen", data: button()}, start + 3],
  ], waiting);
  assert.equal(linkWords(ready.buttons[0]), "ready");
  assert.equal(ready.stale.status, true);
});

test("a turn moves the dial", () => {
  const twist = {...begun, buttons: [button({model: "twist", positions: {slot_1: 0, free: 7}})]};
  const turned = after([[event("rotate_clockwise", start, {part: "dial", steps: 25, position: 25, slot: 1}), start]], twist);
  assert.deepEqual(turned.buttons[0].positions, {slot_1: 25, free: 7});
});

test("the past comes before what is known, once", () => {
  const live = after([[event("click", start + 10), start + 10]]);
  const past = [{...event("click", start - 500), time: at(start - 500)}];
  const joined = withPast(withPast(live, past), past);
  assert.deepEqual(joined.marks.map((mark) => mark.at), [start - 500, start + 10]);
});

test("entries are bounded", () => {
  let state = begun;
  for (let n = 0; n < mostEntries + 10; n += 1) state = reduce(state, event("click", start + n), start + n);
  assert.ok(state.marks.length <= mostEntries);
  assert.equal(state.marks.at(-1).n, mostEntries + 9);
});

test("a line of a kind that this version does not know changes nothing", () => {
  assert.equal(reduce(begun, {kind: "from_the_future"}, start), begun);
});

test("the past has the last press of each button, and a press since is later", () => {
  const past = [{...event("click", start - 500), time: at(start - 500)}];
  assert.equal(withPast(begun, past).latest[id].at, start - 500);
  // The end of the past is known a little later.
  const more = [...past, {...event("hold", start - 100), time: at(start - 100)}];
  assert.equal(withPast(withPast(begun, past), more).latest[id].event, "hold");
  const live = after([[event("hold", start + 10), start + 10]]);
  assert.equal(withPast(live, past).latest[id].event, "hold");
});

test("a server that is heard again is live, unless it has said that there is no daemon", () => {
  const lost = withoutServer(begun);
  assert.deepEqual([withServer(lost).link, withServer(lost).problem], ["live", ""]);
  assert.equal(withServer(withoutDaemon(begun, "gone")).link, "no_daemon");
  assert.equal(withServer(withoutServer(nothing)).link, "no_server");
});

test("the list of a time has what happened in it, and says how much it leaves out", () => {
  const state = after([1, 2, 3, 4].map((n) => [event("click", start + n * 1000), start + n * 1000]));
  const listed = (...rest) => { const {items, more} = happenings(state, ...rest); return [items.map(({entry}) => entry.at - start), more]; };
  assert.deepEqual(listed(12, {from: start + 1500, to: start + 3500}), [[3000, 2000], 0]);
  assert.deepEqual(listed(1, {from: start, to: start + 2500}), [[2000], 1]);
  assert.deepEqual(listed(2), [[4000, 3000], 2]);
});
