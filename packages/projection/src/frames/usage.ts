import type { TokenUsage } from "@countersign/wire";
import type { SafeUsage } from "../owners/runtime/model-events.js";

type Sums = { inputTokens: number; outputTokens: number; totalTokens: number };

/** Sums the tokens of one AG-UI run, by model. */
export class UsageTally {
  readonly #byModel = new Map<string | undefined, Sums>();

  add(model: string | undefined, usage: SafeUsage): void {
    const sums = this.#byModel.get(model) ?? { inputTokens: 0, outputTokens: 0, totalTokens: 0 };
    sums.inputTokens = add(sums.inputTokens, usage.promptTokens);
    sums.outputTokens = add(sums.outputTokens, usage.completionTokens);
    sums.totalTokens = add(sums.totalTokens, usage.totalTokens);
    this.#byModel.set(model, sums);
  }

  /** Empty without any response: absent is not zero. */
  total(): { usage?: TokenUsage[] } {
    if (this.#byModel.size === 0) return {};
    const usage = [...this.#byModel].map(([model, sums]) =>
      model === undefined ? { ...sums } : { model, ...sums },
    );
    return { usage };
  }
}

function add(left: number, right: number): number {
  return Math.min(left + right, Number.MAX_SAFE_INTEGER);
}
