/** How to scan a text that was classified while it streamed: it is not classified again. */
import { andThen, type MaybePromise } from '../../../base/maybe-promise.ts'
import { strongest } from '../classify/classifier.ts'
import type {
  Classification,
  ClassificationReader,
  Classifier,
  ClassifierStream,
  DecisionPoint,
  StreamResult,
  TextDirection,
} from '../classify/classifier.ts'
import { createPersonalDataDetector } from '../detect/personal-data/detector.ts'
import { encodedTexts, mayBeEncoded } from '../normalise/encoded-text.ts'
import { sliceCharacters } from '../normalise/slices.ts'
import { withEncoded, type ScanMode } from '../scan.ts'

/** Who classifies a text, and for whom. */
export type ClassifiedText = {
  readonly classifier: Classifier
  readonly direction: TextDirection
  readonly reader: ClassificationReader
}

/** A text with the stream that classifies it. */
export type ClassifiedStream = ClassifiedText & { readonly stream: ClassifierStream }

/** The mode for a part of the text that ends at a decision point. */
export function partMode(
  read: ClassifiedStream,
  { classification }: DecisionPoint,
  personalData: ScanMode['personalData'],
): ScanMode {
  const encodedIn = oncePerText(encodedTexts)
  const classifier = partClassifier(read)
  return {
    name: 'part',
    classify: ({ text }) => withEncoded(classification, encodedIn(text), { classifier, direction: read.direction }),
    encodedTexts: ({ text }) => encodedIn(text),
    personalData,
  }
}

const wholeModeName = 'whole and at decision points'

/** The mode for the whole text, after the stream has read all of it. */
export function wholeMode(read: ClassifiedStream, whole: string): ScanMode {
  const { stream, direction } = read
  const detector = createPersonalDataDetector()
  const encodedIn = oncePerText(encodedTexts)
  const classifier = partClassifier(read)
  /** A long text is classified slice by slice, as in a request. */
  const classify = (text: string): MaybePromise<Classification> =>
    text.length === whole.length
      ? andThen(stream.end(), (ended) => ended.whole)
      : andThen(stream.decideRest?.(), () => classifier.classify(text, direction))
  return {
    name: wholeModeName,
    classify: ({ text }) =>
      andThen(classify(text), (own) => {
        const all = strongestIn({ whole: own, decided: stream.decided() })
        return withEncoded(all, encodedIn(text), { classifier, direction })
      }),
    encodedTexts: ({ text }) => encodedIn(text),
    personalData({ text, start }) {
      detector.searchTo(whole, start + text.length)
      return detector.matches
    },
  }
}

/**
 * The mode that a stream of a complete text would end with. Undefined if the text must stream: it is long, may be encoded, or needs a
 * second stage of the classifier.
 */
export function unstreamedMode(text: string, { classifier, direction, reader }: ClassifiedText): ScanMode | undefined {
  if (text.length > sliceCharacters || mayBeEncoded(text)) return undefined
  const result = classifier.classifyWhole?.(text, direction, reader)
  return result && new PlainTextMode(text, strongestIn(result))
}

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
    const detector = createPersonalDataDetector()
    detector.searchTo(this.text, this.text.length)
    return detector.matches
  }
}

const none: readonly never[] = []

const strongestIn = ({ whole, decided }: StreamResult): Classification =>
  decided === undefined ? whole : strongest(whole, decided)

/** Classifies slices and encoded parts of a text, within the time that its stream may take. */
const partClassifier = ({ stream, classifier, direction, reader }: ClassifiedStream): Pick<Classifier, 'classify'> => ({
  classify: (part) => stream.classifyPart?.(part) ?? classifier.classify(part, direction, reader),
})

function oncePerText<T>(compute: (text: string) => T): (text: string) => T {
  let last: { readonly text: string; readonly result: T } | undefined
  return (text) => (last?.text === text ? last : (last = { text, result: compute(text) })).result
}
