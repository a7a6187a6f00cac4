/**
 * The partition of a thread's rows: agent, scope and thread id. The scope is the session where
 * requests have no principal.
 */
export function threadKey(agent: string, scope: string, threadId: string): string {
  return JSON.stringify([agent, scope, threadId]);
}
