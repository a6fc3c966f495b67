// Texts that were typed and not saved, kept by the browser for this tab, so that the end of a session or a reload loses none.

/** The beginning of the keys. It has the address of the page, because one host may serve the pages of several houses. */
const prefix = () => `tryck-draft${location.pathname}#`;

/** Whether the page is left to come back to it, so that nothing is lost. */
let isComingBack = false;

/** @returns {?{text: string, etag: string}} `etag` is that of the text that was edited */
export function keptDraft(name) {
  try {
    return JSON.parse(sessionStorage.getItem(prefix() + name));
  } catch {
    return null;
  }
}

/** Keeps a draft. A browser without room or permission keeps none. */
export function keepDraft(name, draft) {
  try {
    sessionStorage.setItem(prefix() + name, JSON.stringify(draft));
  } catch { /* The text is still in the editor. */ }
}

export function forgetDraft(name) {
  try {
    sessionStorage.removeItem(prefix() + name);
  } catch { /* There was none. */ }
}

/** For somebody who signs out, so that the next one does not see them. */
export function forgetDrafts() {
  try {
    for (const key of Object.keys(sessionStorage)) if (key.startsWith(prefix())) sessionStorage.removeItem(key);
  } catch { /* There was none. */ }
}

/** Loads the page again, without the question whether what was typed may be lost. */
export function comeBack() {
  isComingBack = true;
  location.reload();
}

export const willLose = () => !isComingBack;
