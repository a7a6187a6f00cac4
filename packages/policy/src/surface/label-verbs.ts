import type { SurfaceComponent } from "@countersign/surface";
import { compileWords, readWords as words, wordsOf } from "./word-match.js";

/** Words of labels that promise to do nothing, by language. */
export const HARMLESS_WORDS: Readonly<Record<string, readonly string[]>> = {
  en: words(`
    view, show, see, open, read, ok, okay, cancel, close, back, dismiss, details, skip,
    help, no, later, learn more, read more, more info, not now, go back, preview,
    download, print
  `),
  de: words(`
    ansehen, anzeigen, zeigen, öffnen, lesen, abbrechen, schließen, zurück, details,
    nein, später, überspringen, hilfe, mehr erfahren, vorschau, herunterladen, drucken
  `),
  fr: words(`
    voir, afficher, ouvrir, lire, annuler, fermer, retour, détails, non, ignorer, aide,
    en savoir plus, plus tard, aperçu, télécharger, imprimer
  `),
  es: words(`
    ver, mostrar, abrir, leer, cancelar, cerrar, volver, atrás, detalles, omitir, ayuda,
    más información, más tarde, saber más, vista previa, descargar, imprimir
  `),
  it: words(`
    vedi, mostra, visualizza, apri, leggi, annulla, chiudi, indietro, dettagli, salta,
    aiuto, scopri di più, più tardi, anteprima, scarica, stampa
  `),
  pt: words(`
    ver, mostrar, abrir, ler, cancelar, fechar, voltar, detalhes, não, ignorar, ajuda,
    saiba mais, mais tarde, pré-visualizar, baixar, imprimir
  `),
};

/** Words of actions that a person would want to know about, by language. */
export const HARMFUL_WORDS: Readonly<Record<string, readonly string[]>> = {
  en: words(`
    delete, remove, erase, destroy, wipe, drop, purge, pay, purchase, buy, checkout,
    transfer, wire, withdraw, donate, send, submit, grant, approve, authorize,
    authorise, allow, permit, accept, confirm, consent, agree, subscribe, enroll, sign,
    invite, publish, revoke, deactivate, terminate, install, execute, upgrade, refund,
    reset, unsubscribe
  `),
  de: words(`
    löschen, entfernen, vernichten, zahlen, bezahlen, kaufen, bestellen, überweisen,
    senden, genehmigen, erlauben, zustimmen, bestätigen, abonnieren, unterschreiben,
    kündigen
  `),
  fr: words(`
    supprimer, effacer, payer, acheter, commander, transférer, virer, envoyer, accorder,
    approuver, autoriser, accepter, confirmer, signer, résilier, s'abonner
  `),
  es: words(`
    eliminar, borrar, pagar, comprar, transferir, enviar, conceder, aprobar, autorizar,
    aceptar, confirmar, suscribirse, firmar
  `),
  it: words(`
    elimina, eliminare, cancella, paga, pagare, acquista, acquistare, compra,
    trasferisci, invia, inviare, concedi, approva, autorizza, accetta, conferma,
    abbonati, firma
  `),
  pt: words(`
    excluir, eliminar, apagar, pagar, comprar, transferir, enviar, conceder, aprovar,
    autorizar, aceitar, confirmar, subscrever, assinar
  `),
};

const listOf = (words: Readonly<Record<string, readonly string[]>>): readonly string[] =>
  Object.values(words).flat();
const harmless = compileWords(listOf(HARMLESS_WORDS));
/** Long enough that another word rarely starts with it: `approve` and `approved`. */
const STEM = 5;
const HARMFUL = listOf(HARMFUL_WORDS).map((word) => ({ word, folded: wordsOf(word).join("") }));

/** The harmful word that a name or a text has. */
function harmIn(text: string): string | undefined {
  const words = wordsOf(text);
  return HARMFUL.find(({ folded }) =>
    words.some((word) => word === folded || (folded.length >= STEM && word.startsWith(folded))),
  )?.word;
}

/** Whether a text promises something harmless and nothing else. */
function isHarmless(text: string): boolean {
  return harmless.find(text) !== undefined && harmIn(text) === undefined;
}

/** How the texts of a component contradict each other or its actions; undefined when they do not. */
export function findContradiction(component: SurfaceComponent): string | undefined {
  const { label, accessibilityLabel: spoken, actions } = component;
  for (const { name } of actions) {
    const harm = harmIn(name);
    if (harm === undefined) continue;
    if (isHarmless(label)) return `says "${label}" and its action "${name}" does "${harm}"`;
    if (spoken !== undefined && isHarmless(spoken)) {
      return `is read as "${spoken}" and its action "${name}" does "${harm}"`;
    }
  }
  if (spoken === undefined || actions.length === 0) return undefined;
  if (isHarmless(spoken) && harmIn(label) !== undefined)
    return `says "${label}" and is read as "${spoken}"`;
  if (isHarmless(label) && harmIn(spoken) !== undefined)
    return `says "${label}" and is read as "${spoken}"`;
  return undefined;
}
