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
/** Long enough that another word rarely starts with it: `approve` and `approved`. */
const STEM = 5;

type Verbs = {
  /** The harmful word that a name or a text has. */
  harmIn(text: string): string | undefined;
  /** The harmless word of a text that has no harmful one. */
  promiseOf(text: string): string | undefined;
};

let compiled: Verbs | undefined;

/** The lists, folded when they are first needed. */
function verbs(): Verbs {
  compiled ??= compileVerbs();
  return compiled;
}

function compileVerbs(): Verbs {
  const harmless = compileWords(listOf(HARMLESS_WORDS));
  const harmful = listOf(HARMFUL_WORDS).map((word) => ({ word, folded: wordsOf(word).join("") }));
  const harmIn = (text: string): string | undefined => {
    const words = wordsOf(text);
    return harmful.find(({ folded }) =>
      words.some((word) => word === folded || (folded.length >= STEM && word.startsWith(folded))),
    )?.word;
  };
  return {
    harmIn,
    promiseOf: (text) => (harmIn(text) === undefined ? harmless.find(text) : undefined),
  };
}

/**
 * How the texts of a component contradict each other or its actions; undefined when they do not. A
 * text that is not on the screen must not make a lying button look honest, so the visible label is
 * also compared by itself. The sentence names words of the lists and never the text itself.
 */
export function findContradiction(component: SurfaceComponent): string | undefined {
  if (component.actions.length === 0) return undefined;
  for (const label of new Set([component.label, component.visibleLabel])) {
    const contradiction = contradictionOf(label, component);
    if (contradiction !== undefined) return contradiction;
  }
  return undefined;
}

function contradictionOf(
  label: string,
  { accessibilityLabel: spoken, actions }: SurfaceComponent,
): string | undefined {
  const { harmIn, promiseOf } = verbs();
  const promise = promiseOf(label);
  const spokenPromise = spoken === undefined ? undefined : promiseOf(spoken);
  for (const { name } of promise === undefined && spokenPromise === undefined ? [] : actions) {
    const harm = harmIn(name);
    if (harm === undefined) continue;
    return promise === undefined
      ? `is read as "${spokenPromise}" and its action does "${harm}"`
      : `says "${promise}" and its action does "${harm}"`;
  }
  const [harm, spokenHarm] = [harmIn(label), harmIn(spoken ?? "")];
  if (spokenPromise !== undefined && harm !== undefined) {
    return `says "${harm}" and is read as "${spokenPromise}"`;
  }
  if (promise !== undefined && spokenHarm !== undefined) {
    return `says "${promise}" and is read as "${spokenHarm}"`;
  }
  return undefined;
}
