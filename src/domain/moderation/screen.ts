/** One screening of a text gives all that policies combine: the classifier's scores, the terms hit, the personal data. */
import { hash } from 'node:crypto'
import { andThen, sequentially, type MaybePromise } from '../../base/maybe-promise.ts'
import { strongest, withAll } from './classifier.ts'
import type { Classification, Classifier, Direction } from './classifier.ts'
import { hiddenTexts } from './hidden-text.ts'
import type { HiddenText } from './hidden-text.ts'
import { createGrowingSearch } from './personal-data/growing-search.ts'
import type { PersonalDatum } from './personal-data/kinds.ts'
import { slicesOf } from './slices.ts'
import type { Slice } from './slices.ts'
import type { TermHit, Terms } from './terms.ts'
import { createVerdictMemory } from './verdict-memory.ts'

export type Screening = {
  readonly classification: Classification
  readonly termHits: readonly TermHit[]
  readonly personalData: readonly PersonalDatum[]
}

export type ScreenRequest = {
  readonly text: string
  readonly direction: Direction
  readonly terms?: Terms | undefined
  /** Leaves personal data unlooked for. */
  readonly skipsPersonalData?: boolean
  /** How it is read, where not as a text that nobody has read before. */
  readonly reading?: Reading | undefined
}

/** What a text is searched with, slice by slice, for all but terms. */
export type Reading = {
  /** Tells apart in what ways a text can be read: what is found in one may not be found in another. */
  readonly manner: string
  /** Of the slice, and of what is hidden in it. */
  classify(slice: Slice): MaybePromise<Classification>
  hiddenTexts(slice: Slice): readonly HiddenText[]
  /** All of the text up to the end of the slice. */
  personalData(slice: Slice): readonly PersonalDatum[]
}

/** Screens one block of text. The same block, sent again with the next turn of a chat, costs a hash. */
export type Screen = (request: ScreenRequest) => MaybePromise<Screening>

export type ScreenParts = {
  readonly classifier: Classifier
  /** Lets others run between two slices of a long text. */
  readonly pause: () => Promise<unknown>
  /** How many verdicts are remembered. */
  readonly memory: number
}

/** A text with more personal data than this is screened anew each time, so that what is remembered stays small. */
const mostRemembered = 256

export function createScreen({ classifier, pause, memory }: ScreenParts): Screen {
  const verdicts = createVerdictMemory<Screening>(memory)
  return (request) => {
    if (memory === 0) return screenAnew(request, classifier, pause)
    const key = keyOf(request)
    const known = verdicts.recall(key)
    if (known !== undefined) return known
    return andThen(screenAnew(request, classifier, pause), (screening) => {
      const isSmall = screening.personalData.length <= mostRemembered
      if (isSmall && screening.classification.isProvisional !== true) verdicts.remember(key, screening)
      return screening
    })
  }
}

const keyOf = ({ text, direction, terms, skipsPersonalData = false, reading }: ScreenRequest): string =>
  `${direction} ${skipsPersonalData} ${reading?.manner ?? ''} ${terms?.digest ?? ''} ${hash('sha256', text, 'base64url')}`

/** At once, but for a text of several slices and a classifier that is asked elsewhere. */
function screenAnew(
  request: ScreenRequest,
  classifier: Classifier,
  pause: () => Promise<unknown>,
): MaybePromise<Screening> {
  const { text, direction, terms, skipsPersonalData, reading = readAnew(text, { classifier, direction }) } = request
  const hits = new Map<string, TermHit>()
  const classifications: Classification[] = []
  let personalData: readonly PersonalDatum[] = []

  const screenSlice = (slice: Slice): MaybePromise<unknown> => {
    if (terms !== undefined)
      addHits(hits, slice, [...terms.find(slice.text), ...hitsInHidden(reading.hiddenTexts(slice), terms)])
    if (skipsPersonalData !== true) personalData = reading.personalData(slice)
    return andThen(reading.classify(slice), (classification) => classifications.push(classification))
  }
  const screenInTurn = (slice: Slice): MaybePromise<unknown> =>
    slice.start === 0 ? screenSlice(slice) : pause().then(() => screenSlice(slice))

  return andThen(sequentially(slicesOf(text), screenInTurn), () => ({
    classification: classifications.reduce(strongest),
    termHits: [...hits.values()],
    personalData,
  }))
}

type Asked = { readonly classifier: Classifier; readonly direction: Direction }

function readAnew(text: string, { classifier, direction }: Asked): Reading {
  const search = createGrowingSearch()
  return {
    manner: '',
    classify: (slice) =>
      andThen(classifier.classify(slice.text, direction), (own) =>
        withHidden(own, hiddenTexts(slice.text), { classifier, direction }),
      ),
    hiddenTexts: (slice) => hiddenTexts(slice.text),
    personalData(slice) {
      search.searchTo(text, slice.start + slice.text.length)
      return search.found
    },
  }
}

/** What is hidden in a text is judged by itself, since mixed into its carrier it would count for little. */
export const withHidden = (
  own: Classification,
  hidden: readonly HiddenText[],
  { classifier, direction }: Asked,
): MaybePromise<Classification> => withAll(own, hidden, ({ text }) => classifier.classify(text, direction))

function addHits(hits: Map<string, TermHit>, slice: Slice, found: readonly TermHit[]): void {
  for (const { term, start, end } of found) {
    if (!hits.has(term)) hits.set(term, { term, start: slice.start + start, end: slice.start + end })
  }
}

/** A term in a hidden text is reported where its wrapping stands. */
const hitsInHidden = (hidden: readonly HiddenText[], terms: Terms): readonly TermHit[] =>
  hidden.flatMap(({ text, carrier }) => terms.find(text).map(({ term }) => ({ term, ...carrier })))
