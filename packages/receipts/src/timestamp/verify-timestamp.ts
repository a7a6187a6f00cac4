import { createHash, X509Certificate } from "node:crypto";
import { CountersignError } from "@countersign/core";
import * as asn1js from "asn1js";
import * as pkijs from "pkijs";
import "./errors.js";

/** A timestamp that an authority signed. */
export type VerifiedTimestamp = {
  /** The time of the authority, in milliseconds since the epoch. */
  readonly time: number;
  /** Hexadecimal serial number of the timestamp. */
  readonly serial: string;
  /** The subject of the certificate that signed. */
  readonly authority: string;
};

const OID = {
  sha256: "2.16.840.1.101.3.4.2.1",
  tstInfo: "1.2.840.113549.1.9.16.1.4",
  signedData: "1.2.840.113549.1.7.2",
  contentType: "1.2.840.113549.1.9.3",
  signingCertificate: "1.2.840.113549.1.9.16.2.12",
  signingCertificateV2: "1.2.840.113549.1.9.16.2.47",
  extKeyUsage: "2.5.29.37",
  timeStamping: "1.3.6.1.5.5.7.3.8",
} as const;
/** Hash functions of certificate ids, by their OID. */
const HASHES: Readonly<Record<string, string>> = {
  [OID.sha256]: "sha256",
  "2.16.840.1.101.3.4.2.2": "sha384",
  "2.16.840.1.101.3.4.2.3": "sha512",
};
/** The extensions of certificates that are looked at here or by the library. */
const KNOWN_EXTENSIONS: ReadonlySet<string> = new Set([
  OID.extKeyUsage,
  "2.5.29.14", // subjectKeyIdentifier
  "2.5.29.15", // keyUsage
  "2.5.29.17", // subjectAltName
  "2.5.29.19", // basicConstraints
  "2.5.29.30", // nameConstraints
  "2.5.29.32", // certificatePolicies
  "2.5.29.33", // policyMappings
  "2.5.29.35", // authorityKeyIdentifier
  "2.5.29.36", // policyConstraints
  "2.5.29.54", // inhibitAnyPolicy
]);
/** A token with a chain of certificates has a few kilobytes. */
export const MAX_TIMESTAMP_BYTES = 64 * 1024;

const engine = new pkijs.CryptoEngine({ name: "countersign", crypto: globalThis.crypto });

function invalid(reason: string): CountersignError {
  return new CountersignError("ERR_TIMESTAMP", `not a valid timestamp: ${reason}`, { reason });
}

function hashOf(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

/** A copy in a buffer of its own, as the ASN.1 library reads it. */
function own(bytes: Uint8Array): ArrayBuffer {
  return new Uint8Array(bytes).buffer;
}

/** The DER request for a timestamp over the text of a checkpoint (RFC 3161, SHA-256). */
export function encodeTimestampRequest(text: string, nonce: Uint8Array): Uint8Array {
  const request = new pkijs.TimeStampReq({
    version: 1,
    messageImprint: new pkijs.MessageImprint({
      hashAlgorithm: new pkijs.AlgorithmIdentifier({ algorithmId: OID.sha256 }),
      hashedMessage: new asn1js.OctetString({ valueHex: own(hashOf(text)) }),
    }),
    nonce: new asn1js.Integer({ valueHex: own(nonce) }),
    certReq: true,
  });
  return new Uint8Array(request.toSchema().toBER(false));
}

/** The certificates of a PEM file. */
export function parseTrustAnchors(pem: string): pkijs.Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g) ?? [];
  try {
    if (blocks.length === 0) throw new Error("it has no certificate");
    return blocks.map((block) => pkijs.Certificate.fromBER(own(new X509Certificate(block).raw)));
  } catch (cause) {
    const reason = (cause as Error).message;
    throw new CountersignError(
      "ERR_TIMESTAMP_ANCHORS",
      `the trusted certificates cannot be used: ${reason}. Fix: name a PEM file with the root certificate of the timestamp authority`,
      { reason },
      { cause },
    );
  }
}

type Token = { readonly signed: pkijs.SignedData; readonly info: pkijs.TSTInfo };

/** Reads a response; a refusal of the authority is an error. */
function readResponse(response: Uint8Array): Token {
  if (response.length > MAX_TIMESTAMP_BYTES) throw invalid("too large");
  try {
    const parsed = pkijs.TimeStampResp.fromBER(own(response));
    const { status, timeStampToken } = parsed;
    // 0 is granted, 1 is granted with modifications.
    if (status.status > 1) throw new Error(`the authority refused (status ${status.status})`);
    if (timeStampToken?.contentType !== OID.signedData) throw new Error("no signed data");
    const signed = new pkijs.SignedData({ schema: timeStampToken.content });
    const { eContentType, eContent } = signed.encapContentInfo;
    if (eContentType !== OID.tstInfo || eContent === undefined) throw new Error("no time");
    return { signed, info: pkijs.TSTInfo.fromBER(eContent.getValue()) };
  } catch (cause) {
    throw invalid((cause as Error).message);
  }
}

/**
 * Verifies a timestamp over the text of a checkpoint: signature, chain to a trusted certificate at
 * the time of the timestamp, purpose of the certificate, hash, and the nonce of a request.
 *
 * @throws CountersignError `ERR_TIMESTAMP`
 */
export async function verifyTimestamp(
  response: Uint8Array,
  text: string,
  anchors: readonly pkijs.Certificate[],
  nonce?: Uint8Array,
): Promise<VerifiedTimestamp> {
  const { signed, info } = readResponse(response);
  const { hashAlgorithm, hashedMessage } = info.messageImprint;
  // A weaker hash would let another text have the same imprint.
  if (hashAlgorithm.algorithmId !== OID.sha256) throw invalid("its hash is not SHA-256");
  if (!hashOf(text).equals(Buffer.from(hashedMessage.valueBlock.valueHexView))) {
    throw invalid("it is for another checkpoint");
  }
  if (nonce !== undefined && !isNonce(info.nonce, nonce)) {
    throw invalid("it is not the response to this request");
  }
  if (signed.signerInfos.length !== 1) throw invalid("it does not have one signature");
  const digest = signed.signerInfos[0]?.digestAlgorithm.algorithmId ?? "";
  if (!Object.hasOwn(HASHES, digest)) throw invalid("its signature is not over a SHA-2 hash");
  const certificate = await verifySignature(signed, text, anchors, info.genTime);
  assertPurpose(certificate);
  assertSignedAttributes(signed, certificate);
  return {
    time: info.genTime.getTime(),
    serial: Buffer.from(info.serialNumber.valueBlock.valueHexView).toString("hex"),
    authority: new X509Certificate(Buffer.from(certificate.toSchema().toBER())).subject.replaceAll(
      "\n",
      ", ",
    ),
  };
}

async function verifySignature(
  signed: pkijs.SignedData,
  text: string,
  anchors: readonly pkijs.Certificate[],
  checkDate: Date,
): Promise<pkijs.Certificate> {
  let reason = "the signature is wrong";
  try {
    const result = await signed.verify(
      {
        signer: 0,
        data: own(Buffer.from(text)),
        trustedCerts: [...anchors],
        checkChain: true,
        checkDate,
        extendedMode: true,
      },
      engine,
    );
    const { signatureVerified, signerCertificate, certificatePath } = result;
    if (signatureVerified === true && signerCertificate instanceof pkijs.Certificate) {
      if (!certificatePath.some(hasUnknownRule)) return signerCertificate;
      reason = "a certificate has a critical extension that is not known";
    }
  } catch (error) {
    reason = (error as Error).message;
  }
  throw invalid(reason);
}

/** RFC 5280 section 4.2: a certificate with a critical extension that is not understood is rejected. */
function hasUnknownRule({ extensions }: pkijs.Certificate): boolean {
  return (
    extensions?.some(({ critical, extnID }) => critical && !KNOWN_EXTENSIONS.has(extnID)) === true
  );
}

/** RFC 3161 section 2.3: the purpose is critical, and the only one. */
function assertPurpose({ extensions }: pkijs.Certificate): void {
  const found = extensions?.find(({ extnID }) => extnID === OID.extKeyUsage);
  const usage = found?.parsedValue as pkijs.ExtKeyUsage | undefined;
  const isForTime =
    found?.critical === true &&
    usage?.keyPurposes.length === 1 &&
    usage.keyPurposes[0] === OID.timeStamping;
  if (!isForTime) throw invalid("its certificate is not for timestamps");
}

/** The signed attributes name the type of the content, and the certificate (RFC 5035, RFC 5816). */
function assertSignedAttributes(signed: pkijs.SignedData, certificate: pkijs.Certificate): void {
  const attributes = signed.signerInfos[0]?.signedAttrs?.attributes ?? [];
  const valueOf = (type: string): unknown =>
    attributes.find((attribute) => attribute.type === type)?.values[0];
  const content = valueOf(OID.contentType);
  if (!(content instanceof asn1js.ObjectIdentifier) || content.getValue() !== OID.tstInfo) {
    throw invalid("its signature is for another kind of content");
  }
  const second = valueOf(OID.signingCertificateV2);
  const id = firstCertificateId(second ?? valueOf(OID.signingCertificate));
  const der = Buffer.from(certificate.toSchema().toBER());
  const name = second === undefined ? "sha1" : (HASHES[id.algorithm ?? OID.sha256] ?? "");
  if (name === "" || !createHash(name).update(der).digest().equals(id.hash)) {
    throw invalid("its signature names another certificate");
  }
}

/** `SEQUENCE { SEQUENCE OF { SEQUENCE { [hash algorithm], hash, … } } }` of either version. */
function firstCertificateId(value: unknown): { algorithm: string | undefined; hash: Buffer } {
  const [list] = partsOf(value);
  const [first] = partsOf(list);
  const parts = partsOf(first);
  const [algorithm] = partsOf(parts[0]);
  const hash = parts.find((part) => part instanceof asn1js.OctetString);
  if (!(hash instanceof asn1js.OctetString)) throw invalid("its signature names no certificate");
  return {
    algorithm: algorithm instanceof asn1js.ObjectIdentifier ? algorithm.getValue() : undefined,
    hash: Buffer.from(hash.valueBlock.valueHexView),
  };
}

function partsOf(value: unknown): readonly unknown[] {
  return value instanceof asn1js.Sequence ? value.valueBlock.value : [];
}

function isNonce(found: asn1js.Integer | undefined, nonce: Uint8Array): boolean {
  return found !== undefined && Buffer.from(found.valueBlock.valueHexView).equals(nonce);
}
