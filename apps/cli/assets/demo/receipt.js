// The receipt of a decision: its fields, its signature and its proof, and a verification in this browser.
import { element } from "./element.js";

const dialog = document.querySelector("#receipt");
/** The console's own verifier; the demo serves the built file. */
const VERIFIER = "./verify.js";
let consoleUrl;

/** The checks of the verifier in plain words; each is true or false. */
const CHECKS = new Map([
  ["receipt-format", "The receipt has all its fields."],
  ["receipt-signature", "The gateway signed exactly this receipt, letter by letter."],
  ["deny-signed-singly", "A stopped act has its own signature."],
  ["entry-format", "The log keeps the receipt in its one standard form."],
  ["entry-sequence", "The receipt is at the place in the log that it names."],
  ["proof-format", "The proof is complete."],
  ["checkpoint-format", "The summary of the log is complete."],
  ["checkpoint-signature", "The log's own key signed that summary."],
  ["inclusion", "The summary covers this receipt: nobody removed or replaced it."],
]);

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
    : "Not valid: this is not the receipt that the gateway signed.";
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

function failedFirst(checks) {
  return checks.toSorted((a, b) => Number(a.status === "held") - Number(b.status === "held"));
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
        failedFirst(checks).map(({ id, status, title }) =>
          element("li", {
            title,
            text: `${status === "held" ? "✓" : "✕ Not true:"} ${CHECKS.get(id) ?? title}`,
          }),
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

/** One act is several events of AG-UI, and each has its receipt. */
function steps({ count, receipts }, index, open) {
  if (receipts.length < 2) return [];
  const acts = count === 1 ? "This act consists" : `These ${count} acts consist`;
  const step = (text, label, to) =>
    element("button", {
      type: "button",
      text,
      "aria-label": label,
      disabled: to < 0 || to >= receipts.length,
      on: { click: () => void open(to) },
    });
  return [
    element("p", {
      class: "small",
      text: `${acts} of ${receipts.length} AG-UI events. Each event has its own receipt.`,
    }),
    element("p", { class: "steps" }, [
      step("‹", "Previous receipt", index - 1),
      element("span", {
        text: `Event ${index + 1} of ${receipts.length}: ${receipts[index].type}`,
      }),
      step("›", "Next receipt", index + 1),
    ]),
  ];
}

/**
 * Opens the receipts of some decisions.
 *
 * @param group the decisions as `receipts`, their acts in words as `text`, and the number of acts as `count`
 * @param isModal false leaves the rest of the page usable: for the tour
 */
export async function openReceipts(group, { isModal = true } = {}) {
  const { text, receipts } = group;
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
            element("span", {
              class: "small muted",
              text: "The console asks for the token that the terminal shows.",
            }),
          ];
    dialog.replaceChildren(
      element("div", { class: "dialog-head" }, [
        element("h2", { text: "Receipt" }),
        element("button", { type: "button", text: "Close", on: { click: () => dialog.close() } }),
      ]),
      element("p", { class: "sentence", text }),
      element("p", {
        class: "small",
        text: "If you and the shop disagree later, this receipt proves what was decided, when, and by which rule. An auditor can check it without trusting the shop.",
      }),
      ...steps(group, index, open),
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
