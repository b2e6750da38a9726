/** One screening of a text gives all that policies combine: the classifier's scores, the terms hit, the personal data. */
import { hash } from 'node:crypto'
import { andThen, sequentially, type MaybePromise } from '../../base/maybe-promise.ts'
import { strongest, withAll } from './classifier.ts'
import type { Classification, Classifier, TextDirection } from './classifier.ts'
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
  readonly terms?: Terms | undefined
  /** Leaves personal data unlooked for. */
  readonly skipsPersonalData?: boolean
  /** How it is read, where not as a text that nobody has read before. */
  readonly mode?: ScanMode | undefined
}

/** What a text is searched with, slice by slice, for all but terms. */
export type ScanMode = {
  /** Tells apart in what ways a text can be read: what is found in one may not be found in another. */
  readonly name: string
  /** Of the slice, and of what is hidden in it. */
  classify(slice: TextSlice): MaybePromise<Classification>
  encodedTexts(slice: TextSlice): readonly EncodedText[]
  /** All of the text up to the end of the slice. */
  personalData(slice: TextSlice): readonly PersonalDatum[]
}

/** Screens one block of text. The same block, sent again with the next turn of a chat, costs a hash. */
export type ScanText = (request: ScanRequest) => MaybePromise<ScanResult>

export type ScanTextParts = {
  readonly classifier: Classifier
  /** Lets others run between two slices of a long text. */
  readonly pause: () => Promise<unknown>
  /** How many verdicts are remembered. */
  readonly cacheEntries: number
}

/** A text with more personal data than this is screened anew each time, so that what is remembered stays small. */
const mostRemembered = 256

export function createScanText({ classifier, pause, cacheEntries: memory }: ScanTextParts): ScanText {
  const verdicts = createScanCache<ScanResult>(memory)
  return (request) => {
    if (memory === 0) return scanUncached(request, classifier, pause)
    const key = keyOf(request)
    const known = verdicts.get(key)
    if (known !== undefined) return known
    return andThen(scanUncached(request, classifier, pause), (screening) => {
      const isSmall = screening.personalData.length <= mostRemembered
      if (isSmall && screening.classification.isProvisional !== true) verdicts.set(key, screening)
      return screening
    })
  }
}

const keyOf = ({ text, direction, terms, skipsPersonalData = false, mode: reading }: ScanRequest): string =>
  `${direction} ${skipsPersonalData} ${reading?.name ?? ''} ${terms?.digest ?? ''} ${hash('sha256', text, 'base64url')}`

/** At once, but for a text of several slices and a classifier that is asked elsewhere. */
function scanUncached(
  request: ScanRequest,
  classifier: Classifier,
  pause: () => Promise<unknown>,
): MaybePromise<ScanResult> {
  const {
    text,
    direction,
    terms,
    skipsPersonalData,
    mode: reading = readAnew(text, { classifier, direction }),
  } = request
  const hits = new Map<string, TermHit>()
  const classifications: Classification[] = []
  let personalData: readonly PersonalDatum[] = []

  const screenSlice = (slice: TextSlice): MaybePromise<unknown> => {
    if (terms !== undefined)
      addHits(hits, slice, [...terms.find(slice.text), ...hitsInHidden(reading.encodedTexts(slice), terms)])
    if (skipsPersonalData !== true) personalData = reading.personalData(slice)
    return andThen(reading.classify(slice), (classification) => classifications.push(classification))
  }
  const screenInTurn = (slice: TextSlice): MaybePromise<unknown> =>
    slice.start === 0 ? screenSlice(slice) : pause().then(() => screenSlice(slice))

  return andThen(sequentially(slicesOf(text), screenInTurn), () => ({
    classification: classifications.reduce(strongest),
    termHits: [...hits.values()],
    personalData,
  }))
}

type Asked = { readonly classifier: Classifier; readonly direction: TextDirection }

function readAnew(text: string, { classifier, direction }: Asked): ScanMode {
  const search = createIncrementalSearch()
  return {
    name: '',
    classify: (slice) =>
      andThen(classifier.classify(slice.text, direction), (own) =>
        withEncoded(own, encodedTexts(slice.text), { classifier, direction }),
      ),
    encodedTexts: (slice) => encodedTexts(slice.text),
    personalData(slice) {
      search.searchTo(text, slice.start + slice.text.length)
      return search.found
    },
  }
}

/** What is hidden in a text is judged by itself, since mixed into its carrier it would count for little. */
export const withEncoded = (
  own: Classification,
  hidden: readonly EncodedText[],
  { classifier, direction }: Asked,
): MaybePromise<Classification> => withAll(own, hidden, ({ text }) => classifier.classify(text, direction))

function addHits(hits: Map<string, TermHit>, slice: TextSlice, found: readonly TermHit[]): void {
  for (const { term, start, end } of found) {
    if (!hits.has(term)) hits.set(term, { term, start: slice.start + start, end: slice.start + end })
  }
}

/** A term in a hidden text is reported where its wrapping stands. */
const hitsInHidden = (hidden: readonly EncodedText[], terms: Terms): readonly TermHit[] =>
  hidden.flatMap(({ text, carrier }) => terms.find(text).map(({ term }) => ({ term, ...carrier })))
