import type { FuzzTarget } from "./target.js";

/** A target with a fault behind six steps, each a block of its own: the test of the engine looks for it. */
export const FAULTY: FuzzTarget = {
  name: "faulty",
  property: "no input has YYYYYZ",
  covers: [],
  seeds: ["abc"],
  dictionary: ["Y", "Z"],
  maxBytes: 64,
  run(input) {
    const text = new TextDecoder().decode(input);
    let steps = 0;
    if (text.includes("Y")) {
      steps++;
      if (text.includes("YY")) {
        steps++;
        if (text.includes("YYY")) {
          steps++;
          if (text.includes("YYYY")) {
            steps++;
            if (text.includes("YYYYYZ")) throw new Error(`reached after ${steps} steps`);
          }
        }
      }
    }
  },
};
