/** One screening of a text gives all that policies combine: the classifier's scores, the terms hit, the personal data. */
import { hash } from 'node:crypto'
import { andThen, inTurn, type Eventually } from '../../base/eventually.ts'
import type { Category } from './categories.ts'
import { strongest } from './classifier.ts'
import type { Classification, Classifier, Direction } from './classifier.ts'
import { hiddenTexts } from './hidden-text.ts'
import type { HiddenText } from './hidden-text.ts'
import { findNext } from './personal-data/find.ts'
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

/** What a text is searched with, slice by slice, for all that is neither a term nor personal data. */
export type Reading = {
  classify(slice: Slice): Eventually<Classification>
  hiddenTexts(slice: Slice): readonly HiddenText[]
}

/** Screens one block of text. The same block, sent again with the next turn of a chat, costs a hash. */
export type Screen = (request: ScreenRequest) => Eventually<Screening>

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
      if (screening.personalData.length <= mostRemembered) verdicts.remember(key, screening)
      return screening
    })
  }
}

/** The categories of `blocked` that a text was flagged for. */
export const violations = ({ classification }: Screening, blocked: ReadonlySet<Category>): readonly Category[] =>
  classification.flagged.filter((category) => blocked.has(category))

const keyOf = ({ text, direction, terms, skipsPersonalData = false }: ScreenRequest): string =>
  `${direction} ${skipsPersonalData} ${terms?.digest ?? ''} ${hash('sha256', text, 'base64url')}`

/** At once, but for a text of several slices and a classifier that is asked elsewhere. */
function screenAnew(
  request: ScreenRequest,
  classifier: Classifier,
  pause: () => Promise<unknown>,
): Eventually<Screening> {
  const { text, direction, terms, skipsPersonalData, reading = readAnew(classifier, direction) } = request
  const classifications: Classification[] = []
  const hits = new Map<string, TermHit>()
  const personalData: PersonalDatum[] = []
  let searched = 0

  const add = (classification: Classification): unknown => classifications.push(classification)
  const screenSlice = (slice: Slice): Eventually<void> => {
    const hidden = reading.hiddenTexts(slice)
    if (terms !== undefined) addHits(hits, slice, [...terms.find(slice.text), ...hitsInHidden(hidden, terms)])
    if (skipsPersonalData !== true)
      searched = searchOn(text, { from: searched, until: slice.start + slice.text.length }, personalData)
    return andThen(andThen(reading.classify(slice), add), () =>
      inTurn(hidden, (part) => andThen(classifier.classify(part.text, direction), add)),
    )
  }
  const screenInTurn = (slice: Slice): Eventually<void> =>
    slice.start === 0 ? screenSlice(slice) : pause().then(() => screenSlice(slice))

  return andThen(inTurn(slicesOf(text), screenInTurn), () => ({
    classification: classifications.reduce(strongest),
    termHits: [...hits.values()],
    personalData,
  }))
}

const readAnew = (classifier: Classifier, direction: Direction): Reading => ({
  classify: ({ text }) => classifier.classify(text, direction),
  hiddenTexts: ({ text }) => hiddenTexts(text),
})

function addHits(hits: Map<string, TermHit>, slice: Slice, found: readonly TermHit[]): void {
  for (const { term, start, end } of found) {
    if (!hits.has(term)) hits.set(term, { term, start: slice.start + start, end: slice.start + end })
  }
}

/** A term in a hidden text is reported where its wrapping stands. */
const hitsInHidden = (hidden: readonly HiddenText[], terms: Terms): readonly TermHit[] =>
  hidden.flatMap(({ text, carrier }) => terms.find(text).map(({ term }) => ({ term, ...carrier })))

/** Adds what begins before `until`; answers where to go on. */
function searchOn(text: string, { from, until }: { from: number; until: number }, found: PersonalDatum[]): number {
  let at = from
  for (let next = findNext(text, at, until); next !== undefined; next = findNext(text, at, until)) {
    if (next.kind !== 'literal') found.push({ ...next, kind: next.kind })
    at = next.end
  }
  return Math.max(at, until)
}
