// A model that is always there: OpenAI's chat completions over HTTP, streamed, scripted by the words of the
// conversation. The same conversation always gets the same answer, so that two runs of one framework can be compared.
import { createServer } from "node:http";

/**
 * What the newest message of the person makes the model do. A call is made only where the framework offers a tool of
 * that name; the text of the round after a call depends on the call's result alone.
 */
export const SCRIPT = [
  { words: /weather/i, tool: "get_weather", arguments: { city: "Lisbon" } },
  { words: /colour|color/i, tool: "change_background", arguments: { background: "teal" } },
  { words: /note/i, tool: "take_note", arguments: { note: "buy tea" } },
  // CopilotKit's BuiltInAgent has tools of its own for the state that it shares with the page.
  { words: /note/i, tool: "AGUISendStateSnapshot", arguments: { snapshot: { note: "buy tea" } } },
  { words: /approve|refund/i, tool: "refund_order", arguments: { order: "1024" } },
  { words: /parcel/i, tool: "find_parcel", arguments: { parcel: "7" } },
  { words: /chart/i, tool: "show_chart", arguments: {} },
  {
    words: /form/i,
    tool: "render_a2ui",
    arguments: {
      surfaceId: "s1",
      components: [
        { id: "root", component: "Card", child: "label" },
        {
          id: "label",
          component: "Button",
          child: "name",
          action: { event: { name: "send", context: {} } },
        },
        { id: "name", component: "Text", text: "Send" },
      ],
    },
  },
];

const GREETING = "Hello. I am a scripted model, and I say the same each time.";

/** Starts the model; resolves with its base address, as OpenAI clients want it, and its way to end. */
export async function startModel() {
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  await new Promise((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  return {
    url: `http://127.0.0.1:${server.address().port}/v1`,
    close: () => server.close(),
  };
}

async function answer(request, response) {
  const parts = [];
  for await (const part of request) parts.push(part);
  if (!request.url.endsWith("/chat/completions")) {
    response.writeHead(404).end();
    return;
  }
  const asked = JSON.parse(Buffer.concat(parts).toString("utf8"));
  const turn = nextTurn(asked);
  if (asked.stream !== true) {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify(whole(asked, turn)));
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const delta of deltas(turn)) response.write(sse(chunk(asked, [{ index: 0, delta }])));
  const reason = turn.call === undefined ? "stop" : "tool_calls";
  response.write(sse(chunk(asked, [{ index: 0, delta: {}, finish_reason: reason }])));
  if (asked.stream_options?.include_usage === true) {
    response.write(sse({ ...chunk(asked, []), usage: USAGE }));
  }
  response.end("data: [DONE]\n\n");
}

const USAGE = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };

/** The text or call that follows a conversation. */
export function nextTurn({ messages, tools = [] }) {
  const last = messages.at(-1);
  if (last.role === "tool") return { text: `The tool said: ${plain(last.content).slice(0, 80)}` };
  const said = plain(messages.findLast(({ role }) => role === "user")?.content);
  const names = new Set(tools.map((tool) => (tool.function ?? tool).name));
  const step = SCRIPT.find(({ words, tool }) => words.test(said) && names.has(tool));
  const thought = /think/i.test(said) ? "The person wants me to think first." : undefined;
  if (step === undefined) return { text: `${GREETING} You said: ${said}`, thought };
  // The number of the turn makes the id: two calls of one conversation differ, two runs of it do not.
  const id = `call_${step.tool}_${messages.length}`;
  return { call: { id, name: step.tool, arguments: JSON.stringify(step.arguments) } };
}

function plain(content) {
  if (typeof content === "string") return content;
  return (content ?? []).map((part) => part.text ?? "").join("");
}

function* deltas({ text, call, thought }) {
  if (call === undefined) {
    yield { role: "assistant", content: "" };
    // As providers of reasoning models send it beside OpenAI's own fields.
    for (const word of thought?.split(/(?<= )/u) ?? []) yield { reasoning_content: word };
    for (const word of text.split(/(?<= )/u)) yield { content: word };
    return;
  }
  const half = Math.ceil(call.arguments.length / 2);
  const base = { index: 0, id: call.id, type: "function" };
  yield {
    role: "assistant",
    content: null,
    tool_calls: [{ ...base, function: { name: call.name, arguments: "" } }],
  };
  for (const part of [call.arguments.slice(0, half), call.arguments.slice(half)]) {
    yield { tool_calls: [{ index: 0, function: { arguments: part } }] };
  }
}

function whole(asked, { text, call }) {
  const toolCall = call && {
    id: call.id,
    type: "function",
    function: { name: call.name, arguments: call.arguments },
  };
  const message = { role: "assistant", content: text ?? null };
  if (toolCall !== undefined) message.tool_calls = [toolCall];
  const reason = call === undefined ? "stop" : "tool_calls";
  const choices = [{ index: 0, message, finish_reason: reason }];
  return { ...chunk(asked, choices), object: "chat.completion", usage: USAGE };
}

function chunk({ model, messages }, choices) {
  return {
    id: `chatcmpl-${messages.length}`,
    object: "chat.completion.chunk",
    created: 1,
    model,
    choices,
  };
}

function sse(value) {
  return `data: ${JSON.stringify(value)}\n\n`;
}
