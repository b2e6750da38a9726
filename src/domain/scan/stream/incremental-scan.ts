import { andThen, type MaybePromise } from '../../../base/maybe-promise.ts'
import { perCategory } from '../classify/categories.ts'
import {
  readsAll,
  strongest,
  type Classification,
  type ClassificationReader,
  type Classifier,
  type HoldBackBounds,
  type StreamResult,
  type TextDirection,
} from '../classify/classifier.ts'
import { encodedTexts, mayBeEncoded } from '../normalise/encoded-text.ts'
import { createPersonalDataDetector } from '../detect/personal-data/detector.ts'
import { withEncoded, type ScanMode } from '../scan.ts'
import { sliceCharacters } from '../normalise/slices.ts'
import { startClassifierStream } from '../classify/windowed-stream.ts'

/** Scans streamed texts: each character is classified once, as it arrives. */
export type IncrementalScan = {
  readonly bounds: HoldBackBounds
  start(direction: TextDirection, reader?: ClassificationReader): StreamedText
  /**
   * The scan mode of a complete text, as a stream of it would end with. Undefined if the text must stream: it is long, may be encoded,
   * or needs a second stage of the classifier.
   */
  wholeMode(text: string, direction: TextDirection, reader?: ClassificationReader): ScanMode | undefined
}

/** A position at which a streamed text is evaluated. It depends on the text alone. */
export type DecisionPoint = {
  readonly end: number
  /** The position of the decision point before, or 0. */
  readonly previous: number
  /** The strongest classification at this decision point and all before. */
  readonly classification: Classification
}

/** One text that streams. */
export type StreamedText = Disposable & {
  /** Classifies further text. Returns the decision points in it, in order. `isWhole`: see `ClassifierStream`. */
  push(more: string, isWhole?: boolean): MaybePromise<readonly DecisionPoint[]>
  /** The classification of the end of the text. It only holds text back, and never denies. */
  peek(): Classification
  /** `peek` covers the text up to this position. */
  settledTo(): number
  /** Makes `peek` and `settledTo` cover all text, although its last word may be unfinished. */
  peekAtEnd(): MaybePromise<unknown>
  /** The scan mode for a part of the text that ends at a decision point. */
  partMode(point: DecisionPoint, personalData: ScanMode['personalData']): ScanMode
  /** Reads the rest of the text without looking for decision points. Returns the scan mode for the complete text. */
  end(text: string): MaybePromise<ScanMode>
}

/** For a classifier without measured bounds. It is called rarely, so text waits for its next call anyway. */
const unmeasured: HoldBackBounds = {
  categories: perCategory(() => ({ elevatedFrom: -3, holdFrom: -3 })),
  keptBackCharacters: 0,
  openingWords: 0,
}

export const createIncrementalScan = (classifier: Classifier): IncrementalScan => ({
  bounds: classifier.holdBackBounds ?? unmeasured,
  start: (direction, reader = readsAll) => createStreamedText(classifier, direction, reader),
  wholeMode(text, direction, reader = readsAll) {
    if (text.length > sliceCharacters || mayBeEncoded(text)) return undefined
    const result = classifier.classifyWhole?.(text, direction, reader)
    return result && new PlainTextMode(text, strongestIn(result))
  },
})

const wholeModeName = 'whole and at decision points'

/** The mode of a text that is one slice, is classified, and has no encoded text in it. */
class PlainTextMode implements ScanMode {
  readonly name = wholeModeName
  readonly text: string
  readonly classification: Classification

  constructor(text: string, classification: Classification) {
    this.text = text
    this.classification = classification
  }

  classify(): Classification {
    return this.classification
  }

  encodedTexts(): readonly never[] {
    return none
  }

  personalData(): ReturnType<ScanMode['personalData']> {
    const search = createPersonalDataDetector()
    search.searchTo(this.text, this.text.length)
    return search.matches
  }
}

const strongestIn = ({ whole, decided }: StreamResult): Classification =>
  decided === undefined ? whole : strongest(whole, decided)

function createStreamedText(
  classifier: Classifier,
  direction: TextDirection,
  reader: ClassificationReader,
): StreamedText {
  const stream = startClassifierStream(classifier, direction, reader)
  let readTo = 0
  let lastPoint = 0
  let isWholeText = true
  /** Classifies slices and encoded parts. */
  const parts: Pick<Classifier, 'classify'> = {
    classify: (part) => stream.classifyPart?.(part, isWholeText) ?? classifier.classify(part, direction, reader),
  }

  function pointsReached(): readonly DecisionPoint[] {
    const reached = stream.reached()
    if (reached.length === 0) return none
    return reached.map(({ end, classification }) => {
      const previous = lastPoint
      lastPoint = end
      return { end, previous, classification }
    })
  }

  return {
    push(more, isWhole = false) {
      isWholeText &&= isWhole
      readTo += more.length
      return andThen(stream.push(more, isWhole), pointsReached)
    },
    peek: stream.peek,
    settledTo: stream.settledTo,
    peekAtEnd: stream.peekAtEnd,
    partMode({ classification }, personalData) {
      const encodedIn = oncePerText(encodedTexts)
      return {
        name: 'part',
        classify: ({ text }) => withEncoded(classification, encodedIn(text), { classifier: parts, direction }),
        encodedTexts: ({ text }) => encodedIn(text),
        personalData,
      }
    },
    end(text) {
      const rest = text.slice(readTo)
      return andThen(rest === '' ? undefined : stream.push(rest, isWholeText), () => wholeMode(text))
    },
    [Symbol.dispose]: () => stream[Symbol.dispose](),
  }

  function wholeMode(whole: string): ScanMode {
    const search = createPersonalDataDetector()
    const encodedIn = oncePerText(encodedTexts)
    /** A long text is classified slice by slice, as in a request. */
    const classify = (text: string): MaybePromise<Classification> =>
      text.length === whole.length
        ? andThen(stream.end(), (ended) => ended.whole)
        : andThen(stream.decideRest?.(), () => parts.classify(text, direction))
    return {
      name: wholeModeName,
      classify: ({ text }) =>
        andThen(classify(text), (own) => {
          const all = strongestIn({ whole: own, decided: stream.decided() })
          return withEncoded(all, encodedIn(text), { classifier: parts, direction })
        }),
      encodedTexts: ({ text }) => encodedIn(text),
      personalData({ text, start }) {
        search.searchTo(whole, start + text.length)
        return search.matches
      },
    }
  }
}

function oncePerText<T>(compute: (text: string) => T): (text: string) => T {
  let last: { readonly text: string; readonly result: T } | undefined
  return (text) => (last?.text === text ? last : (last = { text, result: compute(text) })).result
}

const none: readonly never[] = []
