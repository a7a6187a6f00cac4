/** What the hardened agent itself knows of a thread. A client can add to it, never rewrite it. */
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

/** A thread nobody has used yet. */
export function createThread(owner: string): Thread {
  return { owner, runs: new Set(), calls: new Map(), wrongPins: 0 };
}
