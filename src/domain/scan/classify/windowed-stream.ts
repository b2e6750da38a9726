import { andThen, sequentially, type MaybePromise } from '../../../base/maybe-promise.ts'
import {
  noClassification,
  readsAll,
  strongest,
  type Classification,
  type ClassificationReader,
  type Classifier,
  type ClassifierStream,
  type DecisionPoint,
  type TextDirection,
} from './classifier.ts'
import type { Span } from '../normalise/normalise.ts'
import { createWindows, windowStep } from '../normalise/windows.ts'

/** Starts the classification of a streamed text, by any classifier. */
export const startClassifierStream = (
  classifier: Classifier,
  direction: TextDirection,
  reader: ClassificationReader = readsAll,
): ClassifierStream =>
  classifier.startStream?.(direction, reader) ??
  createWindowedStream({
    classifier: { classify: (part) => classifier.classify(part, direction, reader) },
    direction,
  })

export type WindowedStreamParts = {
  readonly classifier: PartClassifier
  readonly direction: TextDirection
  /** A cheaper classifier that looks at the text between two decision points. */
  readonly peeks?: ClassifierStream | undefined
}

/** Classifies the parts of one streamed text. `isWhole`: see `ClassifierStream`. */
type PartClassifier = {
  classify(part: string, direction: TextDirection, isWhole?: boolean): MaybePromise<Classification>
}

/**
 * Classifies a streamed text with a classifier that knows only complete texts. The decision points are the word boundaries before every
 * 128th character. At each the window of the last 512 characters is classified, so the classifier is not called more often.
 */
export function createWindowedStream({ classifier, direction, peeks }: WindowedStreamParts): ClassifierStream {
  const windows = createWindows()
  let text = ''
  let steppedTo = 0
  let reached: readonly DecisionPoint[] = []
  let decided: Classification | undefined
  let last = noClassification
  let settledTo = 0
  let isWholeText = true

  const classifyPart = (part: string): MaybePromise<Classification> => classifier.classify(part, direction, isWholeText)

  function classify({ start, end }: Span): MaybePromise<Classification> {
    return andThen(classifyPart(text.slice(start, end)), (classification) => (last = classification))
  }

  function decide(window: Span): MaybePromise<unknown> {
    return andThen(classify(window), (classification) => {
      decided = decided === undefined ? classification : strongest(decided, classification)
      settledTo = window.end
      reached = [...reached, { end: window.end, classification: decided }]
    })
  }

  function decideDue(): MaybePromise<unknown> {
    if (text.length < steppedTo + windowStep) return undefined
    const due = windows.dueIn(text, { start: steppedTo, end: text.length })
    steppedTo += due.length * windowStep
    return sequentially(due, decide)
  }

  return {
    push(more, isWhole = false) {
      isWholeText &&= isWhole
      text += more
      reached = []
      return andThen(peeks?.push(more), decideDue)
    },
    peek: () => peeks?.peek() ?? last,
    settledTo: () => peeks?.settledTo() ?? settledTo,
    peekAtEnd: () =>
      peeks === undefined
        ? andThen(classify(windows.to(text, text.length)), () => (settledTo = text.length))
        : peeks.peekAtEnd(),
    reached: () => reached,
    decided: () => decided,
    classifyPart,
    end: () => andThen(classifyPart(text), (whole) => ({ whole, decided })),
    [Symbol.dispose]: () => peeks?.[Symbol.dispose](),
  }
}
