import type { SurfaceInput } from "@countersign/surface";
import { compileWords, readWords as words } from "./word-match.js";
import type { WordMatch } from "./word-match.js";

/** Words of inputs that ask for a secret, by language; English is everywhere. */
export const SENSITIVE_WORDS: Readonly<Record<string, readonly string[]>> = {
  en: words(`
    password, passwd, passphrase, passcode, pwd, pin, cvv, cvc, cvv2, otp, ssn,
    mfa, totp, pass word, card number, credit card, debit card, cc number,
    card verification, security code, verification code, one-time code, one time
    password, login code, sms code, authentication code, two factor code, social
    security, secret key, private key, api key, access token, seed phrase, recovery
    phrase, recovery code, security question, maiden name
  `),
  de: words(`
    passwort, kennwort, geheimzahl, mtan, pushtan, sms-tan, tan-nummer, kreditkarte, kartennummer, prüfziffer,
    prüfnummer, sicherheitscode, einmalcode, einmalpasswort, bestätigungscode,
    zugangsdaten, zugangscode, sozialversicherungsnummer, sicherheitsfrage,
    wiederherstellungscode
  `),
  fr: words(`
    mot de passe, code secret, code confidentiel, cryptogramme, code de sécurité, carte
    bancaire, carte de crédit, numéro de carte, numéro de la carte, code à usage unique,
    code de vérification, numéro de sécurité sociale, clé privée
  `),
  es: words(`
    contraseña, clave secreta, clave de acceso, tarjeta de crédito, tarjeta de débito, número de
    tarjeta, número de la tarjeta, código de seguridad, código de verificación, código
    de un solo uso, seguridad social, frase de recuperación, clave privada
  `),
  it: words(`
    parola d'ordine, carta di credito, carta di debito, numero di carta,
    numero della carta, codice di sicurezza, codice di verifica, codice monouso, codice
    segreto, codice fiscale, chiave privata
  `),
  pt: words(`
    senha, palavra-passe, palavra passe, cartão de crédito, cartão de débito, número do
    cartão, código de segurança, código de verificação, código de uso único, segurança
    social, chave privada, frase de recuperação, cpf
  `),
};

/** Finds what makes an input sensitive, for the reason of a denial. */
export function compileSensitiveInputs(
  more: readonly string[],
): (input: SurfaceInput) => string | undefined {
  // Most gateways never see an input.
  let match: WordMatch | undefined;
  return ({ label, id, boundPath, hints, isSecret, type }) => {
    if (isSecret || type === "obscured" || type === "password") return "hides what a person types";
    match ??= compileWords([...Object.values(SENSITIVE_WORDS).flat(), ...more]);
    for (const text of [label, id, boundPath ?? "", ...hints]) {
      const word = match.find(text);
      if (word !== undefined) return `asks for "${word}"`;
    }
    return undefined;
  };
}
