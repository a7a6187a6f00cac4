import { mutateStream } from "../testing/stream-mutations.js";
import { textsOf } from "../testing/wire-mutations.js";
import { compareInBatches } from "./testing/batch.js";

// Half of the streams as generated, half with events dropped, moved, doubled, renamed or cut.
compareInBatches(
  0,
  (random, seed, events) => textsOf(random.chance(0.5) ? events : mutateStream(seed, events)),
  { accepted: 0.4, refused: 0.2, differing: 0.1 },
);
