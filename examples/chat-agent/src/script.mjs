/**
 * The script of the example agent. It has no model: a few words in the question choose the answer, so
 * that every feature of a chat can be seen and tested.
 */

const pause = (milliseconds, signal) =>
  new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    signal.addEventListener("abort", done);
  });

/** The last words of the person. */
function questionOf({ messages }) {
  const last = messages.findLast(({ role }) => role === "user");
  return typeof last?.content === "string" ? last.content.toLowerCase() : "";
}

async function* say(messageId, text, signal, pace = 25) {
  yield { type: "TEXT_MESSAGE_START", messageId, role: "assistant" };
  for (const word of text.split(/(?<= )/)) {
    if (signal.aborted) break;
    yield { type: "TEXT_MESSAGE_CONTENT", messageId, delta: word };
    await pause(pace, signal);
  }
  yield { type: "TEXT_MESSAGE_END", messageId };
}

const GREETING =
  "Hello! Ask me for a *chart*, ask me to *transfer* money, or ask for a *story* and stop me when you have heard enough.";
const STORY = Array.from(
  { length: 60 },
  (_, index) => `The sentry asked for the countersign, and watch ${index + 1} gave it.`,
).join(" ");

/** The events of one run, until the signal says stop. */
export async function* runOf(input, signal) {
  const { threadId, runId } = input;
  const ids = { threadId, runId };
  const messageId = `answer-${runId}`;
  yield { type: "RUN_STARTED", ...ids, protocolVersion: "1.0" };
  const [answer] = input.resume ?? [];
  const question = questionOf(input);
  if (answer !== undefined) {
    const approved = answer.status === "resolved" && answer.payload?.approved === true;
    const toolCallId = answer.interruptId.replace("approve-", "");
    const content = approved ? "20.00 EUR transferred" : "declined by the person";
    yield { type: "TOOL_CALL_RESULT", messageId: `result-${runId}`, toolCallId, content };
    const text = approved ? "Done: 20 euros are on their way." : "All right, no money was moved.";
    yield* say(messageId, text, signal);
  } else if (question.includes("transfer")) {
    const toolCallId = `call-${runId}`;
    yield* say(messageId, "I can do that. It needs your approval.", signal);
    yield {
      type: "TOOL_CALL_START",
      toolCallId,
      toolCallName: "transfer",
      parentMessageId: messageId,
    };
    yield { type: "TOOL_CALL_ARGS", toolCallId, delta: '{"amount":20,"currency":"EUR"}' };
    yield { type: "TOOL_CALL_END", toolCallId };
    const message = "Transfer 20 euros to Ada?";
    const interrupts = [
      { id: `approve-${toolCallId}`, reason: "confirmation", message, toolCallId },
    ];
    yield { type: "RUN_FINISHED", ...ids, outcome: { type: "interrupt", interrupts } };
    return;
  } else if (question.includes("chart")) {
    yield* say(messageId, "Here is the week so far.", signal);
    const props = { title: "Messages per day", values: [12, 19, 8, 23, 30, 14, 27] };
    yield {
      type: "CUSTOM",
      name: "countersign.ui_render_hint",
      value: { component: "BarChart", props },
    };
  } else if (question.includes("story")) {
    yield* say(messageId, STORY, signal, 40);
  } else {
    yield* say(messageId, GREETING, signal);
  }
  yield signal.aborted
    ? { type: "RUN_FINISHED", ...ids, outcome: { type: "cancelled" } }
    : { type: "RUN_FINISHED", ...ids };
}
