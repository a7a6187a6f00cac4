import { exportPrivateKeyPem } from "@countersign/core/sign";
import type { Ed25519Key } from "@countersign/core/sign";
import type { SignLibrary } from "./ed25519.js";
import { loadSignInto } from "./ed25519.js";
import { closedError, isSmall, kernelKeyOf } from "./group-signer.js";
import type { GroupSigner } from "./group-signer.js";
import { signGroup } from "./sign-group.js";

/** Signs on the calling thread: for tools and tests, where a blocked event loop does no harm. */
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
    signSmall(request) {
      if (closed) throw closedError();
      return isSmall(request) ? signGroup(request, { sign, kernelKey }) : undefined;
    },
    async sign(request) {
      if (closed) throw closedError();
      return signGroup(request, { sign, kernelKey });
    },
    async close() {
      closed = true;
    },
  };
}
