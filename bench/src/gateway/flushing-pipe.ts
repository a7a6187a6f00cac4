/** A pipe that has every piece on the disk before it passes it on: what that promise costs by itself. */
import { answerAsKeepingPipe } from "./keeping-pipe.js";

answerAsKeepingPipe((piece) => piece);
