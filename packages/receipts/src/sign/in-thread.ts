import { CountersignError } from "@countersign/core";
import { exportPrivateKeyPem } from "@countersign/core/sign";
import type { Ed25519Key } from "@countersign/core/sign";
import type { SignLibrary } from "./ed25519.js";
import { loadSignInto } from "./ed25519.js";
import "./errors.js";
import { kernelKeyOf } from "./group-signer.js";
import type { GroupSigner } from "./group-signer.js";
import { signGroup } from "./sign-group.js";

/** Signs on the calling thread: for tools and tests, where a stalled event loop hurts nobody. */
export async function createInThreadSigner(
  key: Ed25519Key,
  options: { library?: SignLibrary } = {},
): Promise<GroupSigner> {
  const { sign } = await loadSignInto(exportPrivateKeyPem(key), options.library);
  const kernelKey = kernelKeyOf(key);
  let closed = false;
  return {
    kernelKey,
    parallel: 1,
    async sign(request) {
      if (closed) throw new CountersignError("ERR_SIGN_CLOSED", "the signer is closed", {});
      return signGroup(request, { sign, kernelKey });
    },
    async close() {
      closed = true;
    },
  };
}
