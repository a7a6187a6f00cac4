// The verifier of the console as one file, for a page that is not the console: the demo.
export { performedChecks, verifyEvidence } from "./verify-entry.js";
