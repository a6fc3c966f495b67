// The field in which a rules file is edited: CodeMirror where it is installed, else a plain text area. Marks are shown in
// the text or, in a plain text area, by the list beside it.

import {h} from "./dom.js";

const base = "codemirror/";

/** Where lines are wrapped, because a rule is longer than the screen is wide. */
const narrow = matchMediaOrNot("(max-width: 820px)");

/** Tests without a browser have no media. */
function matchMediaOrNot(query) {
  return globalThis.matchMedia?.(query) ?? {matches: false, addEventListener() {}};
}

/**
 * The number of UTF-16 units before a column. Columns of diagnostics count code points from 1, of which an emoji is one.
 *
 * @param {string} text of the line
 */
export const unitsBefore = (text, column) => [...text].slice(0, Math.max(0, column - 1)).join("").length;

const loadScript = (path) => new Promise((resolve, reject) => {
  document.head.append(h("script", {src: base + path, onload: resolve, onerror: reject}));
});

const loadStyle = (path) => document.head.append(h("link", {rel: "stylesheet", href: base + path}));

let loading;

/** Loads CodeMirror once; resolves to undefined where it is not installed. */
function codeMirror() {
  loading ??= (async () => {
    try {
      await loadScript("lib/codemirror.js");
      await Promise.all(["mode/yaml/yaml.js", "addon/hint/show-hint.js"].map(loadScript));
      loadStyle("lib/codemirror.css");
      loadStyle("addon/hint/show-hint.css");
      return window.CodeMirror;
    } catch {
      return undefined;
    }
  })();
  return loading;
}

/**
 * @typedef {object} Editor
 * @property {Element} element
 * @property {string} text
 * @property {function(string, string)} show shows the text of a file, with the changes that can be undone in it
 * @property {function(object[])} mark shows diagnostics, whose lines and columns begin with 1
 * @property {function(string, {line: number, text: string, tone: string, title: ?string, isBelow: ?boolean}[])} annotate shows texts of a kind behind
 *   lines or below them; lines begin with 1
 * @property {function(number, number)} goTo moves to a line and column, which begin with 1
 * @property {boolean} isPlain
 */

/**
 * @param {object} options
 * @param {string} options.label what a screen reader calls the field
 * @param {function()} options.onchange
 * @param {function()} options.onsave the save key was pressed
 * @param {function(number, number): Promise<object[]>} options.complete the completions at a line and character, which
 *   begin with 0
 * @returns {Promise<Editor>}
 */
export async function createEditor(options) {
  const CodeMirror = await codeMirror();
  return CodeMirror ? richEditor(CodeMirror, options) : plainEditor(options);
}

function plainEditor({label, onchange, onsave}) {
  const area = h("textarea", {
    class: "plain", "aria-label": label, spellcheck: "false", autocapitalize: "off", rows: "30", oninput: onchange,
    onkeydown: (event) => {
      if (event.key !== "s" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      onsave();
    },
  });
  return {
    element: area,
    isPlain: true,
    get text() { return area.value; },
    show(_, text) { if (area.value !== text) area.value = text; },
    setReadOnly(isReadOnly) { area.readOnly = isReadOnly; },
    mark() {},
    annotate() {},
    goTo(line, column) {
      const lines = area.value.split("\n");
      const start = lines.slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0)
        + unitsBefore(lines[line - 1] ?? "", column);
      area.focus();
      area.setSelectionRange(start, start);
    },
    refresh() {},
  };
}

function richEditor(CodeMirror, {label, onchange, onsave, complete}) {
  const element = h("div", {class: "rich"});
  const mirror = CodeMirror(element, {
    mode: "yaml", lineNumbers: true, lineWrapping: narrow.matches, indentUnit: 2, tabSize: 2, gutters: ["marks", "CodeMirror-linenumbers"],
    extraKeys: {
      // Tab leaves the editor, as it leaves every other field.
      Tab: false, "Shift-Tab": false, "Ctrl-S": onsave, "Cmd-S": onsave,
      "Ctrl-Space": () => mirror.showHint({hint, completeSingle: false}),
    },
  });
  mirror.getInputField().setAttribute("aria-label", label);
  narrow.addEventListener("change", () => mirror.setOption("lineWrapping", narrow.matches));
  /** The document of each file. */
  const documents = new Map();
  let isSetting = false;
  let marks = [];
  const annotations = new Map();
  mirror.on("change", (_, change) => {
    if (isSetting) return;
    onchange();
    if (/[\w:{ ]$/.test(change.text.at(-1) ?? "") && change.origin === "+input" && !mirror.state.completionActive) {
      mirror.showHint({hint, completeSingle: false});
    }
  });

  async function hint() {
    const {line, ch} = mirror.getCursor();
    const items = await complete(line, ch).catch(() => []);
    const word = /[\w.!]*$/.exec(mirror.getLine(line).slice(0, ch))[0];
    const list = items.filter((item) => item.label.startsWith(word)).map((item) => ({
      text: item.insert ?? item.label,
      displayText: item.label,
      render: (row) => row.append(item.label, h("span", {class: "detail"}, item.detail ?? "")),
    }));
    return {list, from: CodeMirror.Pos(line, ch - word.length), to: CodeMirror.Pos(line, ch)};
  }
  hint.async = false;

  const clear = (items) => items.forEach((item) => item.clear());

  return {
    element,
    isPlain: false,
    get text() { return mirror.getValue(); },
    show(name, text) {
      isSetting = true;
      if (!documents.has(name)) documents.set(name, CodeMirror.Doc(text, "yaml"));
      const wanted = documents.get(name);
      if (mirror.getDoc() !== wanted) {
        clear(marks);
        for (const items of annotations.values()) clear(items);
        mirror.swapDoc(wanted);
      }
      if (wanted.getValue() !== text) {
        wanted.setValue(text);
        wanted.clearHistory();
      }
      isSetting = false;
    },
    setReadOnly(isReadOnly) { mirror.setOption("readOnly", isReadOnly); },
    mark(diagnostics) {
      clear(marks);
      mirror.clearGutter("marks");
      marks = diagnostics.map((problem) => {
        const units = (line, column) => unitsBefore(mirror.getLine(line - 1) ?? "", column);
        const from = CodeMirror.Pos(problem.line - 1, units(problem.line, problem.column));
        const end = units(problem.end_line, problem.end_column);
        const isEmpty = problem.end_line === problem.line && end <= from.ch;
        const to = CodeMirror.Pos(problem.end_line - 1, isEmpty ? units(problem.line, problem.column + 1) : end);
        mirror.setGutterMarker(problem.line - 1, "marks", h("span", {class: `mark ${problem.severity}`, title: problem.message}, "●"));
        return mirror.markText(from, to, {className: `squiggle ${problem.severity}`, attributes: {title: problem.message}});
      });
    },
    annotate(kind, items) {
      clear(annotations.get(kind) ?? []);
      annotations.set(kind, items.filter((item) => item.line <= mirror.lineCount()).map((item) => {
        const widget = h(item.isBelow ? "div" : "span", {class: `annotation ${item.tone}`, title: item.title}, item.text);
        if (item.isBelow) return mirror.addLineWidget(item.line - 1, widget, {noHScroll: true});
        return mirror.setBookmark(CodeMirror.Pos(item.line - 1), {widget, insertLeft: true});
      }));
    },
    goTo(line, column) {
      const place = CodeMirror.Pos(line - 1, unitsBefore(mirror.getLine(line - 1) ?? "", column));
      mirror.setCursor(place);
      mirror.scrollIntoView(place, 120);
      mirror.focus();
    },
    refresh() { mirror.refresh(); },
  };
}
