import { printableText } from "@countersign/core";
import type { SurfaceProblem, SurfaceProblemCode } from "./facts.js";

/** Collects the problems of one payload; beyond the limit only that there are more. */
export class Problems {
  readonly list: SurfaceProblem[] = [];
  readonly #limit: number;
  readonly #seen = new Set<string>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Adds a problem once per code and place. */
  add(
    code: SurfaceProblemCode,
    isUndecided: boolean,
    surfaceId: string | undefined,
    place: string,
    sentence: string,
  ): void {
    const key = `${code} ${place}`;
    if (this.list.length > this.#limit || this.#seen.has(key)) return;
    this.#seen.add(key);
    if (this.list.length < this.#limit) {
      this.list.push({ code, isUndecided, surfaceId, place, sentence });
      return;
    }
    this.list.push({
      code: "surface/over-limit",
      isUndecided: true,
      surfaceId,
      place: "",
      sentence: `The payload has more than ${this.#limit} problems. Fix: correct the first ones.`,
    });
  }
}

/** A name of the payload in a sentence: short, without control characters. */
export function named(text: string): string {
  const short = text.length > 60 ? `${text.slice(0, 60)}…` : text;
  return `"${printableText(short)}"`;
}
