// TanStack AI's chat() behind its own server helpers.
import {
  chat,
  chatParamsFromRequestBody,
  maxIterations,
  mergeAgentTools,
  toolDefinition,
  toServerSentEventsResponse,
} from "@tanstack/ai";
import { openaiCompatibleText } from "@tanstack/ai-openai/compatible";
import { z } from "zod";
import { MODEL_URL, serveResponse } from "../serve.mjs";

const model = openaiCompatibleText("scripted", { baseURL: MODEL_URL, apiKey: "none" });
/** Adds the signatures that Gemini's adapter puts on calls, and Anthropic's and OpenAI's on reasoning. */
const adapter = new Proxy(model, {
  get: (target, name) => {
    const value = Reflect.get(target, name, target);
    if (name !== "chatStream") return typeof value === "function" ? value.bind(target) : value;
    return async function* chatStream(...options) {
      for await (const chunk of target.chatStream(...options)) yield signed(chunk);
    };
  },
});
function signed(chunk) {
  if (chunk.type === "TOOL_CALL_START") {
    return { ...chunk, metadata: { ...chunk.metadata, thoughtSignature: "c2lnbmVkIGNhbGw=" } };
  }
  if (chunk.type === "STEP_FINISHED") return { ...chunk, signature: "c2lnbmVkIHRob3VnaHQ=" };
  return chunk;
}
const tools = [
  toolDefinition({
    name: "get_weather",
    description: "The weather of a city",
    inputSchema: z.object({ city: z.string() }),
  }).server(async ({ city }) => ({ weather: `18 degrees in ${city}` })),
  toolDefinition({
    name: "find_parcel",
    description: "Finds a parcel",
    inputSchema: z.object({ parcel: z.string() }),
  }).server(async () => {
    throw new Error("the parcel service does not answer");
  }),
  toolDefinition({
    name: "refund_order",
    description: "Refunds an order after the person agreed",
    inputSchema: z.object({ order: z.string() }),
    needsApproval: true,
  }).server(async ({ order }) => ({ refunded: order })),
];

serveResponse(async (body) => {
  const params = await chatParamsFromRequestBody(body);
  const { messages, threadId, runId, parentRunId, resume } = params;
  const stream = chat({
    adapter,
    messages,
    threadId,
    runId,
    ...(parentRunId === undefined ? {} : { parentRunId }),
    ...(resume === undefined ? {} : { resume }),
    tools: mergeAgentTools(tools, params.tools),
    agentLoopStrategy: maxIterations(5),
  });
  return toServerSentEventsResponse(stream);
});
