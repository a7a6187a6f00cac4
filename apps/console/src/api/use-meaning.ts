import { useEffect, useState } from "react";
import type { Meaning } from "./answers.js";
import { ControlProblem, ask } from "./request.js";

/** Meanings do not change while a gateway runs; a rule that a policy names itself may have none. */
const known = new Map<string, Promise<Meaning | undefined>>();

function meaningOf(name: string): Promise<Meaning | undefined> {
  let meaning = known.get(name);
  if (meaning === undefined) {
    meaning = ask<Meaning>(`/v1/explain?name=${encodeURIComponent(name)}`).catch(
      (error: unknown) => {
        // What could not be asked is asked again by the next who wants to know.
        if (!(error instanceof ControlProblem) || error.status !== 404) known.delete(name);
        return undefined;
      },
    );
    known.set(name, meaning);
  }
  return meaning;
}

/** What a rule or a code means, once that is known. */
export function useMeaning(name: string | undefined): Meaning | undefined {
  const [found, setFound] = useState<{ name: string; meaning: Meaning | undefined }>();
  useEffect(() => {
    if (name === undefined) return undefined;
    let isGone = false;
    void meaningOf(name).then((meaning) => {
      if (!isGone) setFound({ name, meaning });
    });
    return () => {
      isGone = true;
    };
  }, [name]);
  return found?.name === name ? found?.meaning : undefined;
}
