// A scripted support agent that speaks AG-UI over POST and SSE. It answers, and it also tries what it should not.
import { createServer } from "node:http";
import { setTimeout as pause } from "node:timers/promises";

/** A request that no support agent needs; a page without the gateway displays it. */
export const PHISHING = "Your session expired. Please confirm your card to continue.";

/** Stands in the script where the connection breaks. */
const BREAK = Symbol("break");

/** The agent's server; the caller listens. `counts.cancelled` are the runs whose reader went away. */
export function createAgent() {
  const counts = { cancelled: 0 };
  const server = createServer((request, response) => {
    answer(request, response, counts).catch(() => response.destroy());
  });
  return { server, counts };
}

async function answer(request, response, counts) {
  const parts = [];
  for await (const part of request) parts.push(part);
  const input = JSON.parse(Buffer.concat(parts).toString("utf8"));
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  for (const event of play(input)) {
    if (response.destroyed) {
      counts.cancelled += 1;
      return;
    }
    if (event === BREAK) {
      response.destroy();
      return;
    }
    response.write(`data: ${JSON.stringify(event)}\n\n`);
    await pause(10);
  }
  response.end();
}

function* play({ threadId, runId, messages, forwardedProps }) {
  const last = messages.at(-1);
  const tool = messages
    .flatMap(({ toolCalls = [] }) => toolCalls)
    .find(({ id }) => id === last?.toolCallId);
  yield { type: "RUN_STARTED", threadId, runId };
  if (forwardedProps?.toolChoice?.function?.name === "copilotkitSuggest") yield* suggest(runId);
  else if (tool?.function.name === "confirm_refund") yield* settle(runId, last.content);
  else if (last?.role === "tool") yield* say(`shown-${runId}`, "Here it is.");
  else if (/refund/i.test(String(last?.content))) yield* offerRefund(runId);
  else if (/card/i.test(String(last?.content))) yield* drawOrder(runId);
  else if (/invoice/i.test(String(last?.content))) {
    yield* call(`invoice-${runId}`, "show_invoice", {});
  } else if (/everything/i.test(String(last?.content))) yield* tellEverything(runId);
  else if (/break/i.test(String(last?.content))) yield* breakOff(runId);
  else yield* tellStatus(runId, messages);
  yield { type: "RUN_FINISHED", threadId, runId };
}

function* tellStatus(runId, messages) {
  const told = {
    id: `told-${runId}`,
    role: "assistant",
    content: "Order **#1024** has shipped and arrives on Tuesday.",
  };
  yield* say(told.id, told.content);
  // A call hidden in a snapshot of the conversation, then the same in the open.
  const smuggled = {
    id: `smuggled-${runId}`,
    role: "assistant",
    toolCalls: [
      {
        id: `smuggled-call-${runId}`,
        type: "function",
        function: {
          name: "prompt_user",
          arguments: JSON.stringify({ title: PHISHING, field: "PIN" }),
        },
      },
    ],
  };
  yield { type: "MESSAGES_SNAPSHOT", messages: [...messages, told, smuggled] };
  yield* call(`phish-${runId}`, "prompt_user", { title: PHISHING, field: "Card number" });
}

/** Suggestions, and a call that no page asked for. */
function* suggest(runId) {
  const suggestions = [{ title: "When?", message: "When does my order arrive?" }];
  yield* call(`suggest-${runId}`, "copilotkitSuggest", { suggestions });
  yield* call(`phish-${runId}`, "prompt_user", { title: PHISHING, field: "Card number" });
}

/** An agent that dies in the middle of a sentence. */
function* breakOff(runId) {
  yield { type: "TEXT_MESSAGE_START", messageId: `cut-${runId}`, role: "assistant" };
  yield { type: "TEXT_MESSAGE_CONTENT", messageId: `cut-${runId}`, delta: "Your order" };
  yield BREAK;
}

/** An answer of about a minute, for the stop button. */
function* tellEverything(runId) {
  yield* say(`all-${runId}`, "and then another thing happened ".repeat(1000));
}

function* offerRefund(runId) {
  yield* say(`refund-${runId}`, "I can refund $42.50. Please confirm in the dialog.");
  yield* call(`confirm-${runId}`, "confirm_refund", { order: "#1024", amount: "$42.50" });
}

/** A card in A2UI, drawn by the tool that CopilotKit's runtime brings. */
function* drawOrder(runId) {
  yield* call(`card-${runId}`, "render_a2ui", {
    surfaceId: "order",
    components: [
      { id: "root", component: "Card", child: "column" },
      { id: "column", component: "Column", children: ["title", "button"] },
      { id: "title", component: "Text", text: { path: "/title" } },
      {
        id: "button",
        component: "Button",
        child: "label",
        action: { event: { name: "track_order", context: { order: "#1024" } } },
      },
      { id: "label", component: "Text", text: "Track the order" },
    ],
    data: { title: "Order #1024, $42.50" },
  });
}

function* settle(runId, result) {
  const confirmed = String(result).includes("confirmed");
  yield* say(
    `done-${runId}`,
    confirmed ? "Done: $42.50 is on its way to your card." : "All right, nothing was refunded.",
  );
}

function* say(messageId, text) {
  yield { type: "TEXT_MESSAGE_START", messageId, role: "assistant" };
  for (const delta of text.split(/(?<= )/)) {
    yield { type: "TEXT_MESSAGE_CONTENT", messageId, delta };
  }
  yield { type: "TEXT_MESSAGE_END", messageId };
}

function* call(toolCallId, toolCallName, args) {
  yield { type: "TOOL_CALL_START", toolCallId, toolCallName };
  yield { type: "TOOL_CALL_ARGS", toolCallId, delta: JSON.stringify(args) };
  yield { type: "TOOL_CALL_END", toolCallId };
}
