import { useEffect, useState } from "react";
import type { Explanation } from "./responses.js";
import { ControlProblem, fetchJson } from "./request.js";

/** Explanations do not change while a gateway runs; a policy's own rule may have none. */
const known = new Map<string, Promise<Explanation | undefined>>();
/** What has arrived, so that a row that scrolls into sight has its height at once. */
const arrived = new Map<string, Explanation | undefined>();

function explain(name: string): Promise<Explanation | undefined> {
  let explanation = known.get(name);
  if (explanation === undefined) {
    explanation = fetchJson<Explanation>(`/v1/explain?name=${encodeURIComponent(name)}`).catch(
      (error: unknown) => {
        // A failed request is not cached, so the next component repeats it.
        if (!(error instanceof ControlProblem) || error.status !== 404) known.delete(name);
        return undefined;
      },
    );
    known.set(name, explanation);
    void explanation.then((found) => arrived.set(name, found));
  }
  return explanation;
}

/** The explanation of a rule or a code, once it is loaded. */
export function useExplanation(name: string | undefined): Explanation | undefined {
  const [found, setFound] = useState<{ name: string; explanation: Explanation | undefined }>();
  useEffect(() => {
    if (name === undefined || arrived.has(name)) return undefined;
    let isGone = false;
    void explain(name).then((explanation) => {
      if (!isGone) setFound({ name, explanation });
    });
    return () => {
      isGone = true;
    };
  }, [name]);
  if (name === undefined) return undefined;
  return found?.name === name ? found.explanation : arrived.get(name);
}
