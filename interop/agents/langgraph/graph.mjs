// A graph as LangGraph's own templates have it: a model, a tool of the server, tools of the page, shared state and
// a question to the person.
import { SystemMessage, ToolMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import {
  Command,
  END,
  interrupt,
  MessagesValue,
  START,
  StateGraph,
  StateSchema,
} from "@langchain/langgraph";
import { ChatOpenAI } from "@langchain/openai";
import { z } from "zod";
import { MODEL_URL } from "../serve.mjs";

const State = new StateSchema({
  messages: MessagesValue,
  // Where the adapter puts the tools of the page.
  tools: z.array(z.any()).default(() => []),
  note: z.string().default(""),
});

const getWeather = tool(async ({ city }) => `18 degrees in ${city}`, {
  name: "get_weather",
  description: "The weather of a city",
  schema: z.object({ city: z.string() }),
});
const takeNote = tool(async ({ note }) => `noted: ${note}`, {
  name: "take_note",
  description: "Keeps a note in the shared state",
  schema: z.object({ note: z.string() }),
});
const refundOrder = tool(async ({ order }) => order, {
  name: "refund_order",
  description: "Refunds an order after the person agreed",
  schema: z.object({ order: z.string() }),
});
const own = [getWeather, takeNote, refundOrder];
const ownNames = new Set(own.map(({ name }) => name));

async function chat(state, config) {
  const model = new ChatOpenAI({
    model: "scripted",
    apiKey: "none",
    configuration: { baseURL: MODEL_URL },
  });
  const bound = model.bindTools([...own, ...pageTools(state.tools ?? [])]);
  const answer = await bound.invoke([new SystemMessage("You help."), ...state.messages], config);
  const [call] = answer.tool_calls ?? [];
  return new Command({
    update: { messages: [answer] },
    goto: call !== undefined && ownNames.has(call.name) ? "act" : END,
  });
}

function pageTools(tools) {
  return tools.map((entry) =>
    entry.type === "function"
      ? entry
      : {
          type: "function",
          function: {
            name: entry.name,
            description: entry.description,
            parameters: entry.parameters,
          },
        },
  );
}

async function act(state) {
  const [call] = state.messages.at(-1).tool_calls;
  const result = (content) => new ToolMessage({ content, name: call.name, tool_call_id: call.id });
  if (call.name === "take_note") {
    return { messages: [result(`noted: ${call.args.note}`)], note: call.args.note };
  }
  if (call.name === "refund_order") {
    const said = interrupt({ reason: "confirmation", message: `Refund order ${call.args.order}?` });
    return { messages: [result(`the person said ${JSON.stringify(said)}`)] };
  }
  return { messages: [await getWeather.invoke({ ...call, type: "tool_call" })] };
}

export const graph = new StateGraph(State)
  .addNode("chat", chat, { ends: ["act", END] })
  .addNode("act", act)
  .addEdge(START, "chat")
  .addEdge("act", "chat")
  .compile();
