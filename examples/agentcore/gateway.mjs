/** The gateway in front of the agent, as the container has it, but on free ports of this machine and with an issuer of its own. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig, startGateway } from "@countersign/gateway";
import { SignJWT, exportJWK, generateKeyPair } from "jose";

const ISSUER = "https://issuer.example.com";
const CLIENT = "4example5client6id";
const policy = new URL("container/policy.yaml", import.meta.url);

/** Starts it in front of an agent's address; `tokenFor` makes what a user pool would give a person. */
export async function startInFront(agentUrl) {
  const folder = await mkdtemp(join(tmpdir(), "countersign-agentcore-"));
  const { publicKey, privateKey } = await generateKeyPair("ES256");
  const jwk = { ...(await exportJWK(publicKey)), kid: "pool", alg: "ES256" };
  await writeFile(join(folder, "jwks.json"), JSON.stringify({ keys: [jwk] }));
  await writeFile(join(folder, "policy.yaml"), await readFile(policy));
  const text = `
listen: { port: 0 }
control: { port: 0 }
agents:
  main: { url: ${agentUrl}/invocations }
  socket: { url: ${agentUrl.replace("http:", "ws:")}/ws, transport: websocket }
policy: policy.yaml
access:
  mode: jwt
  jwt: { issuer: ${ISSUER}, client_ids: [${CLIENT}], jwks: jwks.json }
`;
  const file = join(folder, "countersign.yaml");
  const running = await startGateway(loadConfig(text, { file, environment: {} }));
  return {
    url: running.dataUrl,
    receipts: join(folder, ".countersign", "receipts"),
    tokenFor: (person) =>
      new SignJWT({ client_id: CLIENT })
        .setProtectedHeader({ alg: "ES256", kid: "pool" })
        .setIssuer(ISSUER)
        .setSubject(person)
        .setExpirationTime("1h")
        .sign(privateKey),
    async close() {
      await running.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
