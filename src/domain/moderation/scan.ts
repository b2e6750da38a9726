/** Scans one text for everything that rules depend on: classifier scores, terms and personal data. */
import { hash } from 'node:crypto'
import { andThen, sequentially, type MaybePromise } from '../../base/maybe-promise.ts'
import { readsAll, strongest, withAll } from './classifier.ts'
import type { Classification, ClassificationReader, Classifier, TextDirection } from './classifier.ts'
import { encodedTexts } from './encoded-text.ts'
import type { EncodedText } from './encoded-text.ts'
import { createIncrementalSearch } from './personal-data/incremental-search.ts'
import type { PersonalDatum } from './personal-data/kinds.ts'
import { slicesOf } from './slices.ts'
import type { TextSlice } from './slices.ts'
import type { TermHit, Terms } from './terms.ts'
import { createScanCache } from './scan-cache.ts'

export type ScanResult = {
  readonly classification: Classification
  readonly termHits: readonly TermHit[]
  readonly personalData: readonly PersonalDatum[]
}

export type ScanRequest = {
  readonly text: string
  readonly direction: TextDirection
  /** By default one that reads all categories. */
  readonly reader?: ClassificationReader
  readonly terms?: Terms | undefined
  /** Skips personal data. */
  readonly skipsPersonalData?: boolean
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
  /** Yields to the event loop between two slices of a long text. */
  readonly pause: () => Promise<unknown>
  /** How many results are cached; 0 turns the cache off. */
  readonly cacheEntries: number
}

/** Results with more personal data than this are not cached, so that the cache stays small. */
const maxCachedMatches = 256

export function createScanText({ classifier, pause, cacheEntries }: ScanTextParts): ScanText {
  const cache = createScanCache<ScanResult>(cacheEntries)
  const keyOf = createKeys()
  return (request) => {
    if (cacheEntries === 0) return scanUncached(request, classifier, pause)
    const key = keyOf(request)
    const cached = cache.get(key)
    if (cached !== undefined) return cached
    return andThen(scanUncached(request, classifier, pause), (scan) => {
      const isSmall = scan.personalData.length <= maxCachedMatches
      if (isSmall && scan.classification.isProvisional !== true) cache.set(key, scan)
      return scan
    })
  }
}

/** The texts of a request are scanned in a row, so the part of the key that is not the text is kept from one to the next. */
function createKeys(): (request: ScanRequest) => string {
  let last = { direction: '', read: readsAll.categories, skipsPersonalData: false, mode: '', terms: '' }
  let rules = ''
  return ({
    text,
    direction,
    reader: { categories: read } = readsAll,
    skipsPersonalData = false,
    mode: { name: mode } = unnamed,
    terms: { digest: terms } = noTerms,
  }) => {
    const isSame = last.direction === direction && last.read === read && last.skipsPersonalData === skipsPersonalData
    if (!isSame || last.mode !== mode || last.terms !== terms) {
      last = { direction, read, skipsPersonalData, mode, terms }
      rules = `${direction} ${[...read].join()} ${skipsPersonalData} ${mode} ${terms} `
    }
    return rules + hash('sha256', text, 'base64url')
  }
}

const unnamed = { name: '' }
const noTerms = { digest: '' }

/** Synchronous, except for a text of several slices or a remote classifier. */
function scanUncached(
  request: ScanRequest,
  classifier: Classifier,
  pause: () => Promise<unknown>,
): MaybePromise<ScanResult> {
  const { text, direction, reader, terms, skipsPersonalData } = request
  const { mode = fullScan(text, { classifier, direction, reader }) } = request
  const hits = terms === undefined ? undefined : new Map<string, TermHit>()
  const classifications: Classification[] = []
  let personalData: readonly PersonalDatum[] = []

  const scanSlice = (slice: TextSlice): MaybePromise<unknown> => {
    if (terms !== undefined && hits !== undefined)
      addHits(hits, slice, [...terms.find(slice.text), ...hitsInEncoded(mode.encodedTexts(slice), terms)])
    if (skipsPersonalData !== true) personalData = mode.personalData(slice)
    return andThen(mode.classify(slice), (classification) => classifications.push(classification))
  }
  const scanAfterPause = (slice: TextSlice): MaybePromise<unknown> =>
    slice.start === 0 ? scanSlice(slice) : pause().then(() => scanSlice(slice))

  return andThen(sequentially(slicesOf(text), scanAfterPause), () => ({
    classification: classifications.reduce(strongest),
    termHits: hits === undefined ? noHits : [...hits.values()],
    personalData,
  }))
}

const noHits: readonly TermHit[] = []

type ClassifierCall = {
  readonly classifier: Pick<Classifier, 'classify'>
  readonly direction: TextDirection
  readonly reader?: ClassificationReader | undefined
}

function fullScan(text: string, call: ClassifierCall): ScanMode {
  const { classifier, direction, reader } = call
  const search = createIncrementalSearch()
  return {
    name: '',
    classify: (slice) =>
      andThen(classifier.classify(slice.text, direction, reader), (own) =>
        withEncoded(own, encodedTexts(slice.text), call),
      ),
    encodedTexts: (slice) => encodedTexts(slice.text),
    personalData(slice) {
      search.searchTo(text, slice.start + slice.text.length)
      return search.matches
    },
  }
}

/** Classifies encoded texts separately, because mixed into the carrier text they would hardly change its scores. */
export const withEncoded = (
  own: Classification,
  encoded: readonly EncodedText[],
  { classifier, direction, reader }: ClassifierCall,
): MaybePromise<Classification> => withAll(own, encoded, ({ text }) => classifier.classify(text, direction, reader))

function addHits(hits: Map<string, TermHit>, slice: TextSlice, found: readonly TermHit[]): void {
  for (const { term, start, end } of found) {
    if (!hits.has(term)) hits.set(term, { term, start: slice.start + start, end: slice.start + end })
  }
}

/** A term in an encoded text is reported at the position of the encoding. */
const hitsInEncoded = (encoded: readonly EncodedText[], terms: Terms): readonly TermHit[] =>
  encoded.flatMap(({ text, carrier }) => terms.find(text).map(({ term }) => ({ term, ...carrier })))
