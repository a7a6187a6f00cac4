/** The gateway in front of an agent's address, with an issuer of its own. */
export function startInFront(agentUrl: string): Promise<{
  /** The data plane's address. */
  url: string;
  /** A token of the user pool for a person. */
  tokenFor(person: string): Promise<string>;
  close(): Promise<void>;
}>;
