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

const adapter = openaiCompatibleText("scripted", { baseURL: MODEL_URL, apiKey: "none" });
const tools = [
  toolDefinition({
    name: "get_weather",
    description: "The weather of a city",
    inputSchema: z.object({ city: z.string() }),
  }).server(async ({ city }) => ({ weather: `18 degrees in ${city}` })),
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
