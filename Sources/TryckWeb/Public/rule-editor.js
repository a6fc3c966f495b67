// Edits the rule files: marks mistakes while one types, runs tests, saves, and compares with what has changed meanwhile.

import {diffLines, hunks} from "./diff.js";
import {h, icon, setInactive, setText} from "./dom.js";
import {forgetDraft, keepDraft, keptDraft, willLose} from "./drafts.js";
import {createEditor} from "./editor.js";
import * as server from "./server.js";
import {count, eventWords, timeOrDate} from "./words.js";

/** How long after the last key a text is checked, in milliseconds. */
const checkDelay = 250;

/** How far back the history is compared: what is asked for, and what it is called. */
const periods = [["1h", "the last hour"], ["24h", "the last day"], ["7d", "the last week"]];

const tickPath = "M5 12.5l4.5 4.5L19 7.5";

/** Whether a path of a diagnostic or a place is that of a file of the set. */
export const isSameFile = (path, name) => path === name || path.endsWith(`/${name}`);

/** @param {import("./main.js").App} app */
export function createRuleEditor(app) {
  const tabs = h("div", {class: "tabs", role: "tablist", "aria-label": "Files"});
  const field = h("div", {class: "field", id: "rule-field", role: "tabpanel"});
  const notice = h("div", {class: "notice", role: "status", hidden: true});
  const verdict = h("p", {class: "verdict", role: "status"});
  const problems = h("ul", {class: "problems", "aria-label": "Mistakes"});
  const output = h("div", {class: "output", "aria-live": "polite"});
  const save = h("button", {type: "button", class: "primary", onclick: () => saveFile(false)}, "Save");
  const test = h("button", {type: "button", onclick: runTests}, "Run the tests");
  const tools = h("div", {class: "tools", hidden: true});
  const period = h("select", {"aria-label": "How far back"}, periods.map(([value, label]) => h("option", {value}, label)));
  const compareButton = h("button", {type: "button", onclick: compareWithPast}, "Compare with the past");
  const past = h("span", {class: "group"}, compareButton, period);
  tools.append(save, test, past);
  const element = h(
    "section", {class: "panel editor", "aria-label": "Files"},
    h("header", {}, h("h2", {}, "Files"), tabs), notice, field, verdict, problems, tools,
    output);
  field.hidden = true;
  setText(verdict, "The files are loading…");

  /**
   * `isRestored` is true for a text that was typed before this page was loaded.
   *
   * @type {Map<string, {name: string, etag: string, saved: string, text: string, obstacle: ?string, isRestored: boolean}>}
   */
  const files = new Map();
  let current = null;
  let editor = null;
  let timer = null;
  let diagnostics = [];
  let testPlaces = [];
  /** What the output is about, which is old when the text changes: `tests` or `past`; empty for others. */
  let shown = "";
  /** A place that is shown when the files are there. */
  let wanted = null;

  const isChanged = (file) => file.text !== file.saved;
  const drafts = () => Object.fromEntries([...files.values()].filter(isChanged).map((file) => [file.name, file.text]));

  // MARK: Files

  async function load() {
    editor ??= await createEditor({
      label: "Text of the rules", onchange: changed, onsave: () => saveFile(false),
      complete: async (line, character) =>
        (await server.complete({files: drafts(), file: current.name, line, character})).items,
    });
    if (!field.contains(editor.element)) field.replaceChildren(editor.element);
    try {
      const list = await server.ruleFiles();
      for (const {name, writable, obstacle} of list) await loadFile(name, writable ? null : obstacle ?? "it cannot be written");
      field.hidden = list.length === 0;
      tools.hidden = list.length === 0;
      if (list.length === 0) return drawNone();
      open(current?.name ?? list.find((file) => file.entry)?.name ?? list[0].name);
      editor.refresh();
      if (wanted) openPlace(wanted);
      wanted = null;
    } catch (refusal) {
      verdict.className = "verdict bad";
      setText(verdict, `The files cannot be shown: ${refusal.message}`);
    }
  }

  async function loadFile(name, obstacle) {
    const {text, etag} = await server.ruleFile(name);
    const known = files.get(name);
    // What was typed and not saved is kept.
    if (known && isChanged(known)) return Object.assign(known, {obstacle});
    const kept = obstacle === null ? keptDraft(name) : null;
    const isRestored = kept !== null && kept.text !== text;
    files.set(name, {name, saved: text, obstacle, etag: isRestored ? kept.etag : etag, text: isRestored ? kept.text : text, isRestored});
  }

  function drawNone() {
    verdict.className = "verdict";
    const place = app.state().status?.rules?.notices?.[0];
    setText(verdict, `There is no rule file yet. ${place ? sentenceOf(place)
      : "Create the file that rules: in tryck.yaml names, home.yaml beside it by default. tryck check says what is missing."}`
      + " Then load this page again.");
  }

  /** Says why the file cannot be saved from here, or that its text was typed before. */
  function drawNotice() {
    field.classList.toggle("read-only", current.obstacle !== null);
    notice.hidden = current.obstacle === null && !current.isRestored;
    if (current.obstacle !== null) {
      notice.replaceChildren(h("p", {}, h("b", {}, `${current.name} can only be read here: `), `${current.obstacle}.`,
        app.session().edit_rules ? " Then load this page again." : " Set it to true and restart tryck-web to edit the rules here."));
    } else if (current.isRestored) {
      notice.replaceChildren(
        h("p", {}, `This is what you typed in ${current.name} and did not save.`),
        h("button", {type: "button", class: "small", onclick: discard}, "Take the file's text"));
    }
  }

  async function discard() {
    const {name, obstacle} = current;
    forgetDraft(name);
    files.delete(name);
    try {
      await loadFile(name, obstacle);
      open(name);
    } catch (refusal) {
      showRefusal(refusal);
    }
  }

  function open(name) {
    const file = files.get(name);
    if (!file) return;
    current = file;
    editor.show(file.name, file.text);
    editor.setReadOnly(file.obstacle !== null);
    drawTabs();
    drawNotice();
    checkNow();
  }

  function drawTabs() {
    // The ids are numbers, because the name of a file may have a space, which ends an id in `aria-labelledby`.
    tabs.replaceChildren(...[...files.values()].map((file, index) => h("button", {
      type: "button", role: "tab", id: `tab-${index}`, "aria-selected": String(file === current), "aria-controls": "rule-field",
      tabindex: file === current ? "0" : "-1", onclick: () => open(file.name), onkeydown: moveTab,
    }, isChanged(file) ? `${file.name} •` : file.name)));
    field.setAttribute("aria-labelledby", `tab-${[...files.values()].indexOf(current)}`);
    setInactive(save, current.obstacle !== null || !isChanged(current));
    save.hidden = current.obstacle !== null;
  }

  function moveTab(event) {
    const step = {ArrowLeft: -1, ArrowRight: 1}[event.key];
    if (!step) return;
    const names = [...files.keys()];
    open(names[(names.indexOf(current.name) + step + names.length) % names.length]);
    tabs.querySelector('[aria-selected="true"]').focus();
  }

  function changed() {
    const wasChanged = isChanged(current);
    current.text = editor.text;
    if (wasChanged !== isChanged(current)) drawTabs();
    if (isChanged(current)) keepDraft(current.name, {text: current.text, etag: current.etag});
    else forgetDraft(current.name);
    outdate();
    clearTimeout(timer);
    timer = setTimeout(checkNow, checkDelay);
  }

  /** Results of an earlier text are taken away. */
  function outdate() {
    testPlaces = [];
    drawTestMarks();
    if (shown === "") return;
    output.replaceChildren(h("p", {class: "muted"}, shown === "tests"
      ? "The text has changed since the tests were run." : "The text has changed since it was compared."));
    shown = "";
  }

  // MARK: Check

  async function checkNow() {
    const file = current;
    const text = file.text;
    try {
      const [found, hints] = await Promise.all([
        server.check({files: drafts()}),
        server.hints({files: drafts(), file: file.name}).catch(() => ({hints: []})),
      ]);
      // Another text has been typed meanwhile, which will be checked.
      if (file !== current || text !== file.text) return;
      diagnostics = Array.isArray(found) ? found : found.diagnostics ?? [];
      drawProblems();
      editor.annotate("hint", hints.hints.map((hint) => ({line: hint.line + 1, ...waitWords(hint), tone: "muted", isBelow: true})));
      drawTestMarks();
    } catch (refusal) {
      setText(verdict, refusal.message);
    }
  }

  function drawProblems() {
    editor.mark(diagnostics.filter((problem) => isSameFile(problem.file, current.name)));
    const errors = diagnostics.filter((problem) => problem.severity === "error").length;
    const warnings = diagnostics.length - errors;
    const found = [errors ? count(errors, "mistake") : "", warnings ? count(warnings, "warning") : ""].filter(Boolean).join(", ");
    verdict.className = `verdict ${errors ? "bad" : warnings ? "doubtful" : "good"}`;
    setText(verdict, found || "Without mistakes");
    problems.replaceChildren(...diagnostics.map((problem) => h("li", {class: problem.severity}, h(
      "button", {type: "button", onclick: () => goTo(problem.file, problem.line, problem.column)},
      h("span", {class: "place"}, `${problem.file.split("/").at(-1)}:${problem.line}`), h("span", {}, problem.message),
      problem.hint ? h("span", {class: "muted"}, problem.hint) : null))));
  }

  function goTo(path, line, column) {
    const name = [...files.keys()].find((file) => isSameFile(path, file));
    if (!name || !current) return;
    if (name !== current.name) open(name);
    editor.goTo(line, column);
  }

  /** Shows the place of a rule or of a test. */
  function openPlace({file, line, column}) {
    if (!current) wanted = {file, line, column};
    else goTo(file, line, column);
  }

  // MARK: Tests

  async function runTests() {
    shown = "tests";
    output.replaceChildren(h("p", {class: "muted"}, "Running the tests…"));
    try {
      const text = current.text;
      const {tests, unreached} = await server.runTests({files: drafts()});
      if (text !== current.text) return outdate();
      testPlaces = tests;
      drawTestMarks();
      const failed = tests.filter((item) => !item.passed).length;
      output.replaceChildren(
        h("h3", {}, failed ? `${failed} of ${count(tests.length, "test")} failed` : `${count(tests.length, "test")} passed`),
        h("ul", {class: "results"}, tests.map((item) => h(
          "li", {class: item.passed ? "good" : "bad"},
          item.passed ? h("span", {class: "sign"}, icon(tickPath), h("span", {class: "hidden"}, "passed: "))
            : h("b", {class: "sign"}, "✗"),
          h("button", {type: "button", class: "link", onclick: () => openPlace(item)}, item.name),
          item.failure ? h("pre", {tabindex: "0"}, failureText(item.failure)) : null))),
        ...(unreached?.length ? [h("p", {class: "muted"}, `No test reaches ${unreached.map(ruleName).join(", ")}.`)] : []));
    } catch (refusal) {
      showRefusal(refusal);
    }
  }

  function drawTestMarks() {
    editor.annotate("test", testPlaces.filter((place) => isSameFile(place.file, current.name)).map((place) => ({
      line: place.line, text: place.passed ? "✓ passed" : "✗ failed", tone: place.passed ? "good" : "bad",
    })));
  }

  // MARK: Save

  async function saveFile(anyway) {
    const file = current;
    if (!file || file.obstacle !== null || !isChanged(file)) return;
    const text = file.text;
    shown = "";
    try {
      const etag = await server.saveRuleFile(file.name, text, file.etag, anyway);
      Object.assign(file, {etag, saved: text, isRestored: false});
      if (isChanged(file)) keepDraft(file.name, {text: file.text, etag});
      else forgetDraft(file.name);
      drawNotice();
      output.replaceChildren(h("p", {class: "good"}, `${file.name} is saved.`));
      drawTabs();
      app.refresh("rules");
    } catch (refusal) {
      if (refusal.status === 412) showConflict(file, refusal);
      else if (refusal.status === 422) showMistakes(refusal.body.diagnostics);
      else showRefusal(refusal);
    }
  }

  function showMistakes(found) {
    diagnostics = found;
    drawProblems();
    output.replaceChildren(
      h("p", {}, "The file has mistakes and is not saved. Saved anyway, it changes nothing: the rules that run keep running."),
      h("div", {class: "tools"}, h("button", {type: "button", onclick: () => saveFile(true)}, "Save it anyway")));
  }

  function showConflict(file, refusal) {
    const theirs = typeof refusal.body === "string" ? refusal.body : refusal.body.text;
    const etag = refusal.headers.get("ETag");
    output.replaceChildren(
      h("h3", {}, `${file.name} has changed meanwhile`),
      h("p", {}, "It is not saved. Lines with − are only in the file, lines with + only in your text."),
      drawDiff(diffLines(theirs, file.text)),
      h("div", {class: "tools"},
        h("button", {type: "button", onclick: () => {
          Object.assign(file, {etag, saved: theirs});
          saveFile(false);
        }}, "Save mine over it"),
        h("button", {type: "button", onclick: () => {
          Object.assign(file, {etag, saved: theirs, text: theirs, isRestored: false});
          forgetDraft(file.name);
          open(file.name);
          output.replaceChildren();
        }}, "Take the file's text")));
  }

  // MARK: The past

  async function compareWithPast() {
    shown = "past";
    output.replaceChildren(h("p", {class: "muted"}, "Running the past through these rules…"));
    try {
      const {events, errors, notes, differ} = await server.compare({files: drafts(), since: period.value});
      const isUncertain = differ.some((item) => [...item.before, ...item.after].some((deed) => !deed.certain));
      output.replaceChildren(
        h("h3", {}, events === 0 && notes.length > 0
          ? "Nothing could be compared"
          : `${differ.length} of ${count(events, "event")} ${differ.length === 1 ? "ends" : "end"} otherwise`),
        ...errors.map((error) => h("p", {class: "bad"}, error.message)),
        ...notes.map((note) => h("p", {class: "muted"}, note)),
        ...(isUncertain
          ? [h("p", {class: "muted"}, "A question mark follows what depends on a program or a web request whose result is unknown.")]
          : []),
        h("ul", {class: "differ"}, differ.map((item) => h(
          "li", {}, h("p", {}, h("b", {}, `${item.button ?? ""} ${item.event ? eventWords(item) : ""}`), ` ${timeOrDate(Date.parse(item.at))}`),
          drawDiff(diffLines(deeds(item.before), deeds(item.after)))))));
    } catch (refusal) {
      // There is no history here, so that nothing can be compared.
      if (refusal.status === 501 || refusal.status === 404) past.hidden = true;
      showRefusal(refusal);
    }
  }

  const showRefusal = (refusal) => output.replaceChildren(h("p", {class: "bad"}, refusal.message));

  addEventListener("beforeunload", (event) => {
    if (willLose() && [...files.values()].some(isChanged)) event.preventDefault();
  });

  return {
    element,
    load,
    open: openPlace,
  };
}

/**
 * How long clicks wait and because of which rules. A trigger of many buttons shows the first two; the rest is its title.
 *
 * @param {{text: string, detail: ?string}} hint its detail has a sentence for each button
 */
export function waitWords({text, detail}) {
  const sentences = (detail ?? text).replaceAll("`", "").split("\n\n");
  const more = sentences.length > 2 ? ` And ${sentences.length - 2} more.` : "";
  return {text: sentences.slice(0, 2).join(" ") + more, title: sentences.join("\n")};
}

/** A sentence of the daemon or the server, which begins in lower case and has no full stop. */
const sentenceOf = (text) => `${text.charAt(0).toUpperCase()}${text.slice(1).replace(/\.$/, "")}.`;

const failureText = (failure) => typeof failure === "string" ? failure : failure.message ?? JSON.stringify(failure, null, 2);

/** What rules did or would have done, a line for each deed. */
const deeds = (list) => list.map((deed) => deed.sentence.replaceAll("\n", " ")).join("\n");

const ruleName = (rule) => typeof rule === "string" ? rule : rule.id ?? rule.name ?? "";

const classes = {"-": "removed", "+": "added", "=": ""};
const shownSigns = {"-": "−", "+": "+", "=": ""};
const spokenSigns = {"-": "removed: ", "+": "added: ", "=": ""};

/** Lines with their signs. */
function drawDiff(lines) {
  const rows = hunks(lines).map((line) => line === null ? h("div", {class: "gap", "aria-hidden": "true"}, "⋯") : h(
    "div", {class: classes[line.sign]}, h("span", {class: "hidden"}, spokenSigns[line.sign]),
    h("span", {class: "sign", "aria-hidden": "true"}, shownSigns[line.sign]), line.text || " "));
  return h("div", {class: "diff", tabindex: "0", role: "group", "aria-label": "Comparison"}, rows);
}
