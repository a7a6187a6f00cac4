// CopilotKit's BuiltInAgent, with a tool of its own and one that asks first.
import { BuiltInAgent, defineTool } from "@copilotkit/runtime/v2";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { z } from "zod";
import { MODEL_URL } from "../serve.mjs";

const provider = createOpenAICompatible({ name: "scripted", baseURL: MODEL_URL });
const tools = [
  defineTool({
    name: "get_weather",
    description: "The weather of a city",
    parameters: z.object({ city: z.string() }),
    execute: async ({ city }) => ({ weather: `18 degrees in ${city}` }),
  }),
  defineTool({
    name: "refund_order",
    description: "Refunds an order after the person agreed",
    parameters: z.object({ order: z.string() }),
    interrupt: true,
    interruptReason: "confirmation",
    interruptMessage: "Refund the order?",
  }),
];

/** A new one for each run: it keeps the run that it is in. */
export function createBuiltInAgent() {
  return new BuiltInAgent({ model: provider("scripted"), tools, maxSteps: 5 });
}
