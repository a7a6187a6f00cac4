/** The values that one actor's extractors found, and those of other actors under `actor.name`. */
export type ActorVariables = {
  readonly values: ReadonlyMap<string, string>;
  set(name: string, value: string): void;
};

/** Hands out the variables of each actor; what one finds, all can name. */
export function createVariables(): (actor: string) => ActorVariables {
  const shared = new Map<string, string>();
  const actors = new Map<string, Map<string, string>>();
  return (actor) => {
    const values = new Map(shared);
    actors.set(actor, values);
    return {
      values,
      set(name, value) {
        values.set(name, value);
        const qualified = `${actor}.${name}`;
        shared.set(qualified, value);
        for (const other of actors.values()) other.set(qualified, value);
      },
    };
  };
}
