/** Scans one text for everything that rules depend on: classifier scores, terms, personal data and prompt injections. */
import { hash } from 'node:crypto'
import { all, andThen, isPromise, sequentially, type MaybePromise } from '../../base/maybe-promise.ts'
import { readsAll, strongest, withAll } from './classify/classifier.ts'
import type { Classification, ClassificationReader, Classifier, TextDirection } from './classify/classifier.ts'
import { encodedTexts } from './normalise/encoded-text.ts'
import type { EncodedText } from './normalise/encoded-text.ts'
import { createPersonalDataDetector } from './detect/personal-data/detector.ts'
import type { PersonalDataDetector } from './detect/personal-data/detector.ts'
import type { PersonalDatum } from './detect/personal-data/kinds.ts'
import { sliceCharacters, slicesOf } from './normalise/slices.ts'
import type { TextSlice } from './normalise/slices.ts'
import type { TermHit, Terms } from './detect/terms.ts'
import { createScanCache } from './scan-cache.ts'
import type { InjectionDetector } from './injection/injection-detector.ts'

export type ScanResult = {
  readonly classification: Classification
  readonly termHits: readonly TermHit[]
  readonly personalData: readonly PersonalDatum[]
  /** How likely it holds a prompt injection, from 0 to 1. Undefined if it was not scanned for one. */
  readonly injection?: number
}

export type ScanRequest = {
  readonly text: string
  readonly direction: TextDirection
  /** By default one that reads all categories. */
  readonly reader?: ClassificationReader
  readonly terms?: Terms | undefined
  /** Skips personal data. */
  readonly skipsPersonalData?: boolean
  readonly scansForInjection?: boolean
  /** How to scan it; by default as a text that was not scanned before. */
  readonly mode?: ScanMode | undefined
}

/** The steps of a scan, slice by slice. The search for terms is the same in every mode. */
export type ScanMode = {
  /** Part of the cache key, because modes may give different results for the same text. */
  readonly name: string
  /** Classifies the slice and the encoded texts in it. */
  classify(slice: TextSlice): MaybePromise<Classification>
  encodedTexts(slice: TextSlice): readonly EncodedText[]
  /** All personal data up to the end of the slice. */
  personalData(slice: TextSlice): readonly PersonalDatum[]
}

/** Scans one text. The same text, sent again with the next turn of a chat, costs one hash. */
export type ScanText = (request: ScanRequest) => MaybePromise<ScanResult>

export type ScanTextParts = {
  readonly classifier: Classifier
  /** Without one, no text is scanned for prompt injections. */
  readonly injectionDetector?: InjectionDetector | undefined
  /** Yields to the event loop between two slices of a long text. */
  readonly pause: () => Promise<unknown>
  /** How many results are cached; 0 turns the cache off. */
  readonly cacheEntries: number
}

/** Results with more personal data than this are not cached, so that the cache stays small. */
const maxCachedMatches = 256

export function createScanText(parts: ScanTextParts): ScanText {
  const { cacheEntries } = parts
  const cache = createScanCache<ScanResult>(cacheEntries)
  const keyOf = createKeys()
  return (request) => {
    if (cacheEntries === 0) return scanUncached(request, parts)
    const key = keyOf(request)
    const cached = cache.get(key)
    if (cached !== undefined) return cached
    return andThen(scanUncached(request, parts), (scan) => {
      const isSmall = scan.personalData.length <= maxCachedMatches
      if (isSmall && scan.classification.isProvisional !== true) cache.set(key, scan)
      return scan
    })
  }
}

/** The texts of a request are scanned in a row, so the part of the key that is not the text is kept from one to the next. */
function createKeys(): (request: ScanRequest) => string {
  let last = {
    direction: '',
    read: readsAll.categories,
    skipsPersonalData: false,
    injection: false,
    mode: '',
    terms: '',
  }
  let rules = ''
  return ({
    text,
    direction,
    reader: { categories: read } = readsAll,
    skipsPersonalData = false,
    scansForInjection: injection = false,
    mode: { name: mode } = unnamed,
    terms: { digest: terms } = noTerms,
  }) => {
    const isSame = last.direction === direction && last.read === read && last.skipsPersonalData === skipsPersonalData
    if (!isSame || last.injection !== injection || last.mode !== mode || last.terms !== terms) {
      last = { direction, read, skipsPersonalData, injection, mode, terms }
      rules = `${direction} ${[...read].join()} ${skipsPersonalData} ${injection} ${mode} ${terms} `
    }
    return rules + hash('sha256', text, 'base64url')
  }
}

const unnamed = { name: '' }
const noTerms = { digest: '' }

/** Synchronous, except for a text of several slices or a remote classifier. */
function scanUncached(
  request: ScanRequest,
  { classifier, injectionDetector, pause }: ScanTextParts,
): MaybePromise<ScanResult> {
  const { text, scansForInjection } = request
  const detector = scansForInjection === true ? injectionDetector : undefined
  const scanning = { ...request, mode: request.mode ?? new FullScan(request, classifier), detector }
  if (text.length <= sliceCharacters) return scanSlice(scanning, { text, start: 0 })
  const results: ScanResult[] = []
  const addAfterPause = async (slice: TextSlice): Promise<unknown> => {
    if (slice.start > 0) await pause()
    return results.push(await scanSlice(scanning, slice))
  }
  return andThen(sequentially(slicesOf(text), addAfterPause), () => joinSlices(results))
}

type Scanning = ScanRequest & { readonly mode: ScanMode; readonly detector: InjectionDetector | undefined }

function scanSlice(scanning: Scanning, slice: TextSlice): MaybePromise<ScanResult> {
  const { mode, detector } = scanning
  const scanned = scanSliceAlone(scanning, slice)
  if (detector === undefined) return scanned
  const texts = [slice.text, ...mode.encodedTexts(slice).map(({ text }) => text)]
  const scores = all(texts.map((text) => detector.score(text)))
  return andThen(scanned, (scan) => andThen(scores, (known) => ({ ...scan, injection: Math.max(...known) })))
}

function scanSliceAlone({ terms, skipsPersonalData, mode }: Scanning, slice: TextSlice): MaybePromise<ScanResult> {
  const termHits = terms === undefined ? none : hitsIn(slice, terms, mode)
  const personalData = skipsPersonalData === true ? none : mode.personalData(slice)
  const classified = mode.classify(slice)
  if (!isPromise(classified)) return { classification: classified, termHits, personalData }
  return classified.then((classification) => ({ classification, termHits, personalData }))
}

const none: readonly never[] = []

const joinSlices = (results: readonly ScanResult[]): ScanResult => ({
  classification: results.map(({ classification }) => classification).reduce(strongest),
  termHits: firstOfEachTerm(results.flatMap(({ termHits }) => termHits)),
  personalData: results.at(-1)?.personalData ?? none,
  ...highestInjection(results),
})

function highestInjection(results: readonly ScanResult[]): Pick<ScanResult, 'injection'> {
  const scores = results.flatMap(({ injection }) => injection ?? [])
  return scores.length === 0 ? {} : { injection: Math.max(...scores) }
}

/** Scans a text that was not scanned before. */
class FullScan implements ScanMode {
  readonly name = ''
  readonly request: ScanRequest
  readonly classifier: Classifier
  search: PersonalDataDetector | undefined = undefined
  /** The encoded texts of the last slice. The classifier, terms and the detector of prompt injections read them one after the other. */
  encoded: { readonly slice: TextSlice; readonly texts: readonly EncodedText[] } | undefined = undefined

  constructor(request: ScanRequest, classifier: Classifier) {
    this.request = request
    this.classifier = classifier
  }

  classify(slice: TextSlice): MaybePromise<Classification> {
    const { classifier } = this
    const { direction, reader } = this.request
    const own = classifier.classify(slice.text, direction, reader)
    const encoded = this.encodedTexts(slice)
    if (encoded.length === 0) return own
    return andThen(own, (classification) => withEncoded(classification, encoded, { classifier, direction, reader }))
  }

  encodedTexts(slice: TextSlice): readonly EncodedText[] {
    if (this.encoded?.slice !== slice) this.encoded = { slice, texts: encodedTexts(slice.text) }
    return this.encoded.texts
  }

  personalData({ start, text }: TextSlice): readonly PersonalDatum[] {
    this.search ??= createPersonalDataDetector()
    this.search.searchTo(this.request.text, start + text.length)
    return this.search.matches
  }
}

type ClassifierCall = {
  readonly classifier: Pick<Classifier, 'classify'>
  readonly direction: TextDirection
  readonly reader?: ClassificationReader | undefined
}

/** Classifies encoded texts separately, because mixed into the carrier text they would hardly change its scores. */
export const withEncoded = (
  own: Classification,
  encoded: readonly EncodedText[],
  { classifier, direction, reader }: ClassifierCall,
): MaybePromise<Classification> => withAll(own, encoded, ({ text }) => classifier.classify(text, direction, reader))

function hitsIn(slice: TextSlice, terms: Terms, mode: ScanMode): readonly TermHit[] {
  const found = [...terms.find(slice.text), ...hitsInEncoded(mode.encodedTexts(slice), terms)]
  if (found.length === 0) return none
  const moved = found.map(({ term, start, end }) => ({ term, start: slice.start + start, end: slice.start + end }))
  return firstOfEachTerm(moved)
}

function firstOfEachTerm(hits: readonly TermHit[]): readonly TermHit[] {
  const first = new Map<string, TermHit>()
  for (const hit of hits) if (!first.has(hit.term)) first.set(hit.term, hit)
  return [...first.values()]
}

/** A term in an encoded text is reported at the position of the encoding. */
const hitsInEncoded = (encoded: readonly EncodedText[], terms: Terms): readonly TermHit[] =>
  encoded.flatMap(({ text, carrier }) => terms.find(text).map(({ term }) => ({ term, ...carrier })))
