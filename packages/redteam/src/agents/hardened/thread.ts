/** The hardened agent's own state of a thread. A client can add to it, never rewrite it. */
export type Thread = {
  readonly owner: string;
  readonly runs: Set<string>;
  /** Calls it made to the page, by id: name and arguments; `answered` at most once. */
  readonly calls: Map<
    string,
    { readonly name: string; readonly arguments: string; answered: boolean }
  >;
  wrongPins: number;
};

/** Creates the state of an unused thread. */
export function createThread(owner: string): Thread {
  return { owner, runs: new Set(), calls: new Map(), wrongPins: 0 };
}
