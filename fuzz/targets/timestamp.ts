import {
  parseTrustAnchors,
  verifyTimestamp,
} from "../../packages/receipts/src/timestamp/verify-timestamp.js";
import { attempt, attemptAsync, holdEqual, textOf } from "../engine/target.js";
import type { FuzzTarget } from "../engine/target.js";

// Made with openssl ts: a root certificate, and the response of an authority below it for TEXT.
const TEXT = "log.example/dated\n8\nXcnaeacGWamtVZy3Ad7ZoqudgjqtL0lgz+Nw7/RgQyg=\n";
const ROOT = `-----BEGIN CERTIFICATE-----
MIIBjjCCATOgAwIBAgIUWCyqpu5m2HpVV7G+wRNx3sA1yTwwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJVGVzdCByb290MB4XDTI2MTExOTIzNTY0OFoXDTI2MTIxOTIz
NTY0OFowFDESMBAGA1UEAwwJVGVzdCByb290MFkwEwYHKoZIzj0CAQYIKoZIzj0D
AQcDQgAEJTQTHE5OWbgqDOD3b87fFWgyHiJd0qJKH/ZGP2omO8cZpZxvKBbyi5w2
EClByVjtGVkdKZ0c6Ie/vNQkjdeQ1qNjMGEwHQYDVR0OBBYEFJaoL87dBzqA+tzY
4WxBGZOh/+JMMB8GA1UdIwQYMBaAFJaoL87dBzqA+tzY4WxBGZOh/+JMMA8GA1Ud
EwEB/wQFMAMBAf8wDgYDVR0PAQH/BAQDAgIEMAoGCCqGSM49BAMCA0kAMEYCIQDl
CkHQ/xW9rUngFpXDcl5oA1C57/yWzPv6HP9z/gzTTQIhAMCKFwVDKARAMjWeGHar
Jeug8DcMr/3JKewfDcxNXska
-----END CERTIFICATE-----
`;
const RESPONSE = Buffer.from(
  "MIIFFzADAgEAMIIFDgYJKoZIhvcNAQcCoIIE/zCCBPsCAQMxDzANBglghkgBZQMEAgEFADBuBgsqhkiG9w0BCRABBKBf" +
    "BF0wWwIBAQYEKgMEATAxMA0GCWCGSAFlAwQCAQUABCDl5OzUsrR76fDL1c+fnbCElqom9ZYER9rUv81b5TVKqgIBAhgP" +
    "MjAyNjExMTkyMzU2NDhaAgkAnuYdj64VUWOgggMuMIIBmDCCAT+gAwIBAgIUftzxZk/1hONZx3LivGcPNWeHQOwwCgYI" +
    "KoZIzj0EAwIwFDESMBAGA1UEAwwJVGVzdCByb290MB4XDTI2MTExOTIzNTY0OFoXDTI2MTIxOTIzNTY0OFowGTEXMBUG" +
    "A1UEAwwOVGVzdCBhdXRob3JpdHkwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAATTUfM0i02PJ7J0TH5D7m64ix9hIujj" +
    "U3cv83XWFtSTL5ZmXxZGXp4Son9vTHgj40q8ZqtltbY9QGOtDP5JzoKMo2owaDAWBgNVHSUBAf8EDDAKBggrBgEFBQcD" +
    "CDAOBgNVHQ8BAf8EBAMCB4AwHQYDVR0OBBYEFGGzfU2wHPxmHxCxjLR9uFY/+xYGMB8GA1UdIwQYMBaAFJaoL87dBzqA" +
    "+tzY4WxBGZOh/+JMMAoGCCqGSM49BAMCA0cAMEQCIAbKpVAmE8zRxgwm9JBC21xfl825yN0hxVYqvMzd9aPUAiAavVRY" +
    "iEh1dF9oTaHkXQMSvNRlnX3TUlIx7Y1PClvx6TCCAY4wggEzoAMCAQICFFgsqqbuZth6VVexvsETcd7ANck8MAoGCCqG" +
    "SM49BAMCMBQxEjAQBgNVBAMMCVRlc3Qgcm9vdDAeFw0yNjExMTkyMzU2NDhaFw0yNjEyMTkyMzU2NDhaMBQxEjAQBgNV" +
    "BAMMCVRlc3Qgcm9vdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABCU0ExxOTlm4Kgzg92/O3xVoMh4iXdKiSh/2Rj9q" +
    "JjvHGaWcbygW8oucNhApQclY7RlZHSmdHOiHv7zUJI3XkNajYzBhMB0GA1UdDgQWBBSWqC/O3Qc6gPrc2OFsQRmTof/i" +
    "TDAfBgNVHSMEGDAWgBSWqC/O3Qc6gPrc2OFsQRmTof/iTDAPBgNVHRMBAf8EBTADAQH/MA4GA1UdDwEB/wQEAwICBDAK" +
    "BggqhkjOPQQDAgNJADBGAiEA5QpB0P8Vva1J4BaVw3JeaANQue/8lsz7+hz/c/4M000CIQDAihcFQygEQDI1nhh2qyXr" +
    "oPA3DK/9ySnsHw3MTV7JGjGCAUEwggE9AgEBMCwwFDESMBAGA1UEAwwJVGVzdCByb290AhR+3PFmT/WE41nHcuK8Zw81" +
    "Z4dA7DANBglghkgBZQMEAgEFAKCBpDAaBgkqhkiG9w0BCQMxDQYLKoZIhvcNAQkQAQQwHAYJKoZIhvcNAQkFMQ8XDTI2" +
    "MTExOTIzNTY0OFowLwYJKoZIhvcNAQkEMSIEIPgMiBlLot+t5PKiQnI5jbHyMQSHZm3qVzv009ii/xC0MDcGCyqGSIb3" +
    "DQEJEAIvMSgwJjAkMCIEIBW3kyJgnf/n7pztOT0Em+TAZurGe+YSKrO2zhHmcoIXMAoGCCqGSM49BAMCBEgwRgIhAJxi" +
    "+YEV5AU9YQ6H/RK/ihuTTiVyGg4q8Zft3h8pwHuyAiEA/uRu2I09om2Y106SMESL/HZPeFUISn7a7rR+bo/GyzU=",
  "base64",
);
const ANCHORS = parseTrustAnchors(ROOT);
const GENUINE = await verifyTimestamp(RESPONSE, TEXT, ANCHORS);

export const TIMESTAMP_TARGETS: readonly FuzzTarget[] = [
  {
    name: "timestamp",
    property:
      "a response that verifies has the time, the number and the authority that were signed",
    covers: [
      "packages/receipts/src/timestamp/verify-timestamp.ts#verifyTimestamp",
      "packages/receipts/src/timestamp/verify-timestamp.ts#parseTrustAnchors",
    ],
    seeds: [RESPONSE, ROOT],
    async run(input) {
      const result = await attemptAsync(() => verifyTimestamp(input, TEXT, ANCHORS));
      if (result.ok) holdEqual(result.value, GENUINE, "what was signed");
      attempt(() => parseTrustAnchors(textOf(input)));
    },
  },
];
