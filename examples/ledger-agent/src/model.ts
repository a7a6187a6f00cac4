/** A call that the model wants made. */
export type ModelCall = {
  name: "count_stock" | "sell" | "discard";
  args: { item: string; count?: number };
};

/** The model's response: text, and an optional call. */
export type ModelResponse = { text: string; call?: ModelCall };

const RULES: [RegExp, (words: RegExpMatchArray) => ModelResponse][] = [
  [
    /\bhow many ([a-z]{1,32})\b/i,
    ([, item = ""]) => ({
      text: "Let me count.",
      call: { name: "count_stock", args: { item: item.toLowerCase() } },
    }),
  ],
  [
    /\bsell (\d{1,3}) ([a-z]{1,32})\b/i,
    ([, count = "1", item = ""]) => ({
      text: "I will take them off the shelf.",
      call: { name: "sell", args: { item: item.toLowerCase(), count: Number(count) } },
    }),
  ],
  [
    /\bdiscard (?:all )?([a-z]{1,32})\b/i,
    ([, item = ""]) => ({
      text: "That cannot be undone, so I ask first.",
      call: { name: "discard", args: { item: item.toLowerCase() } },
    }),
  ],
];

/** Stands for a language model, so that the example runs without a key and always the same. */
export function answer(intent: string): ModelResponse {
  for (const [pattern, make] of RULES) {
    const words = pattern.exec(intent);
    if (words !== null) return make(words);
  }
  return { text: "Ask me “how many apples”, “sell 3 apples” or “discard apples”." };
}
