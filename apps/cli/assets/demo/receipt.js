// The receipt of a decision: its fields, its signature and its proof, and a verification in this browser.
import { element } from "./element.js";

const dialog = document.querySelector("#receipt");
/** The console's own verifier; the demo serves the built file. */
const VERIFIER = "./verify.js";
let consoleUrl;

/** Sets the URL of the console, for links to a receipt. */
export function linkConsole(url) {
  consoleUrl = url;
}

async function fetchEvidence(seq) {
  const response = await fetch(`evidence.json?seq=${seq}`);
  if (!response.ok) throw new Error(`The demo has no entry ${seq}.`);
  return response.json();
}

/** Another letter in the middle of the agent's name: the smallest change that somebody could want. */
function tamper(entry) {
  return entry.replace(
    /("agent_id":")(.)/u,
    (_all, start, letter) => start + (letter === "x" ? "y" : "x"),
  );
}

async function verify({ entry, proof, key, size }) {
  const { performedChecks, verifyEvidence } = await import(VERIFIER);
  const evidence = {
    bytes: new TextEncoder().encode(entry),
    text: entry,
    entry: undefined,
    proof,
    presentedKey: key,
    size,
  };
  const outcome = await verifyEvidence(evidence, undefined);
  if (outcome.kind === "impossible") return { text: outcome.reason, isValid: false, checks: [] };
  const isValid = outcome.verification.valid;
  const text = isValid
    ? "Verified: the receipt is signed, unchanged, and in the log."
    : "Not valid: this receipt is not what was signed.";
  return { text, isValid, checks: performedChecks(outcome.verification) };
}

function field(name, value, kind = "") {
  return [element("dt", { text: name }), element("dd", { class: kind, text: value })];
}

function details(title, text) {
  return element("details", {}, [
    element("summary", { text: title }),
    element("pre", { text, tabindex: "0" }),
  ]);
}

/** A button that verifies and shows the result. */
function verifier(evidence, result) {
  const run = async (proven) => {
    result.className = "result";
    result.replaceChildren("Verifying…");
    const { text, isValid, checks } = await verify(proven);
    result.className = isValid ? "result good" : "result bad";
    result.replaceChildren(
      element("strong", { text }),
      element(
        "ul",
        {},
        checks.map(({ status, title }) =>
          element("li", { text: `${status === "held" ? "✓" : "✕"} ${title}` }),
        ),
      ),
    );
  };
  const intact = element("button", {
    type: "button",
    class: "primary",
    text: "Verify in this browser",
    on: { click: () => void run(evidence) },
  });
  const tampered = element("button", {
    type: "button",
    text: "Change one letter and verify",
    on: { click: () => void run({ ...evidence, entry: tamper(evidence.entry) }) },
  });
  return [intact, tampered];
}

function steps(receipts, index, open) {
  if (receipts.length < 2) return [];
  const step = (text, label, to) =>
    element("button", {
      type: "button",
      text,
      "aria-label": label,
      disabled: to < 0 || to >= receipts.length,
      on: { click: () => void open(to) },
    });
  return [
    element("p", { class: "steps" }, [
      step("‹", "Previous receipt", index - 1),
      element("span", { text: `Receipt ${index + 1} of ${receipts.length}` }),
      step("›", "Next receipt", index + 1),
    ]),
  ];
}

/**
 * Opens the receipts of some decisions.
 *
 * @param text what was decided about, in words
 * @param isModal false leaves the rest of the page usable: for the tour
 */
export async function openReceipts({ text, receipts }, { isModal = true } = {}) {
  const open = async (index) => {
    const decision = receipts[index];
    const evidence = await fetchEvidence(decision.seq);
    const { receipt, rule } = JSON.parse(evidence.entry);
    const result = element("div", { class: "result", role: "status" });
    const link =
      consoleUrl === undefined
        ? []
        : [
            element("a", {
              href: `${consoleUrl}#/receipts/${decision.seq}`,
              target: "_blank",
              rel: "noreferrer",
              text: "Open in the console",
            }),
          ];
    dialog.replaceChildren(
      element("div", { class: "dialog-head" }, [
        element("h2", { text: "Receipt" }),
        element("button", { type: "button", text: "Close", on: { click: () => dialog.close() } }),
      ]),
      element("p", { class: "sentence", text }),
      ...steps(receipts, index, open),
      element("div", { class: "actions" }, [...verifier(evidence, result), ...link]),
      result,
      element("dl", {}, [
        ...field("Decision", receipt.allowed ? "allowed" : "blocked"),
        ...field("Event", decision.type),
        ...(rule === undefined ? [] : field("Rule", rule)),
        ...(receipt.denial_reason === undefined ? [] : field("Reason", receipt.denial_reason)),
        ...field("Time", new Date(receipt.timestamp * 1000).toLocaleString()),
        ...field("Place in the log", `entry ${decision.seq} in a log of ${evidence.size} entries`),
        ...field("Hash of the event", receipt.payload_hash, "mono"),
        ...field("Signature", receipt.signature, "mono"),
      ]),
      details("Proof that the log contains it", evidence.proof),
      details("The whole entry", JSON.stringify(JSON.parse(evidence.entry), null, 2)),
    );
    if (dialog.open) return;
    if (isModal) dialog.showModal();
    else dialog.show();
  };
  await open(0);
}

/** Closes the receipt. */
export function closeReceipt() {
  dialog.close();
}

/** Presses the button that verifies. */
export function verifyShown() {
  dialog.querySelector(".actions .primary")?.click();
}
