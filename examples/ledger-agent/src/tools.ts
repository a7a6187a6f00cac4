import type { AgentSchema } from "@countersign/projection/tools";

const item = { type: "string", description: "What is on the shelf", pattern: "^[a-z]{1,32}$" };
const count = { type: "integer", minimum: 1, maximum: 1000 };

/** The agent's tools. Only name, description and parameters are ever declared to a client. */
export const agentSchema: AgentSchema = {
  projections: {
    agUi: {
      tools: [
        {
          name: "count_stock",
          description: "Counts what is left of an item.",
          parameters: { type: "object", properties: { item }, required: ["item"] },
        },
        {
          name: "sell",
          description: "Takes items off the shelf.",
          parameters: {
            type: "object",
            properties: { item, count },
            required: ["item", "count"],
          },
        },
        {
          name: "discard",
          description: "Throws away all that is left of an item, once a person agrees.",
          parameters: { type: "object", properties: { item }, required: ["item"] },
        },
      ],
    },
  },
};
