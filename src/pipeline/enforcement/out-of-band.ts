import { andThen, every, type MaybePromise } from '../../base/maybe-promise.ts'
import type { Evaluation } from '../../domain/evaluation/evaluate.ts'
import {
  createStreamScanner,
  type StreamScanner,
  type StreamScannerParts,
  type Mark,
} from '../../domain/evaluation/stream/stream-scanner.ts'
import { textOfAddress } from '../../domain/evaluation/texts/text-fields.ts'
import { isDenied, denialOf, type Decision } from '../../domain/evaluation/verdict/combine.ts'
import { isRephrasing } from '../../domain/evaluation/verdict/rephrase.ts'
import type { Chunk, Citation, InferenceEvent, OutOfBandText } from '../../domain/inference/events.ts'

/**
 * Scans out-of-band text: strings in the upstream's raw frames that no event carries. Such a string may be a whole text or
 * a part of one that continues in the next frame. So the strings of a chunk are evaluated as they are, unless their format
 * marks them as parts, and the strings of one field are also scanned as one streamed text, which is held back as any other.
 */
export type OutOfBandInspection = Disposable & {
  /** The position of each text that must be cleared before it may be sent. Call before `scan`. */
  marksOf(texts: readonly OutOfBandText[]): readonly Mark[]
  /** Scans all texts. Returns whether the response may continue. */
  scan(texts: readonly OutOfBandText[]): MaybePromise<boolean>
  /**
   * Evaluates the text of each field as complete. Text that the same field adds later is evaluated together with the end of
   * this text. At the end of a block, a text that comes in parts continues.
   */
  end(of: 'block' | 'answer'): MaybePromise<boolean>
}

type Field = { readonly scanner: StreamScanner; text: string; position: number; isInParts: boolean }

/** More fields than any format has. Further fields share one scanner. */
const maxFields = 64
/** Characters of a completed text that are scanned again with the next text of its field. */
const tailCharacters = 512
/** Different strings that judges evaluate one by one. Further ones wait until enough of them are a paragraph. */
const maxJudgedStrings = 16

export function createOutOfBandInspection(parts: StreamScannerParts, decisions: Decision[]): OutOfBandInspection {
  const fields = new Map<string, Field>()
  const tails = new Map<string, string>()
  const { policies, windowed } = parts.holdBack
  const stepPlan = { ...parts.plan, policies }
  const judgePlan = {
    ...parts.plan,
    policies: { request: [], response: [...policies.response, ...windowed.response] },
  }
  const judgedStrings = new Set<string>()
  /** Whether all strings of the current chunk were judged. */
  let areJudged = false

  function fieldOf(name: string): Field {
    const key = fields.has(name) || tails.has(name) || fields.size + tails.size < maxFields ? name : ''
    const known = fields.get(key)
    if (known !== undefined) return known
    const tail = tails.get(key) ?? ''
    const field = { scanner: createStreamScanner(parts), text: tail, position: tail.length, isInParts: false }
    if (tail !== '') field.scanner.push(tail)
    fields.set(key, field)
    return field
  }

  /** Out-of-band text is not held as a block, so it cannot be rephrased and is denied instead. */
  function isAllowed({ verdict }: Evaluation): boolean {
    const needsRephrasing = isRephrasing(verdict.effectiveDecision)
    decisions.push(...verdict.decisions, ...(needsRephrasing ? denialOf(verdict) : []))
    return !isDenied(verdict) && !needsRephrasing
  }

  /** Uses the rules for streamed text. The others are evaluated once the text is complete. */
  function evaluateStrings(texts: readonly OutOfBandText[]): MaybePromise<boolean> {
    const whole = texts.filter(({ isDelta }) => isDelta !== true)
    if (whole.length === 0) return true
    const joined = whole.map(({ text }) => text).join('\n')
    areJudged = judgedStrings.has(joined) || judgedStrings.size < maxJudgedStrings
    const plan = areJudged && !judgedStrings.has(joined) ? judgePlan : stepPlan
    if (areJudged) judgedStrings.add(joined)
    return andThen(parts.evaluateUncached(plan, { texts: [joined], direction: 'response' }), (evaluation) =>
      evaluation.verdict.decision === 'allow' ? true : isAllowed(evaluation),
    )
  }

  function scanField({ field: name, text, isDelta }: OutOfBandText): MaybePromise<boolean> {
    const field = fieldOf(name)
    field.text += text
    field.isInParts = isDelta === true
    field.scanner.push(text)
    if (areJudged && isDelta !== true) field.scanner.skipWindows()
    return andThen(field.scanner.scan(), (denied) => denied === undefined || isAllowed(denied))
  }

  function scanEnds(texts: readonly OutOfBandText[]): MaybePromise<boolean> {
    const scanners = new Set(texts.map(({ field }) => fieldOf(field).scanner))
    return every([...scanners], (scanner) => andThen(scanner.scanEnd(), () => true))
  }

  return {
    marksOf: (texts) =>
      texts.map(({ field: name, text }) => {
        const field = fieldOf(name)
        field.position += text.length
        return { scanner: field.scanner, position: field.position }
      }),
    scan: (texts) =>
      andThen(
        evaluateStrings(texts),
        (areStringsAllowed) =>
          areStringsAllowed &&
          andThen(every(texts, scanField), (areFieldsAllowed) => areFieldsAllowed && scanEnds(texts)),
      ),
    end(of) {
      if (fields.size === 0) return true
      const ending = [...fields].filter(([, { isInParts }]) => of === 'answer' || !isInParts)
      for (const [name, { text }] of ending) {
        fields.delete(name)
        tails.set(name, text.slice(-tailCharacters))
      }
      return every(ending, ([, { scanner }]) => andThen(scanner.end(), isAllowed))
    },
    [Symbol.dispose]() {
      for (const { scanner } of fields.values()) scanner[Symbol.dispose]()
    },
  }
}

/** The out-of-band texts of a chunk, without URLs and binary data. */
export function outOfBandTextsOf({ outOfBand = none, events, raw }: Chunk): readonly OutOfBandText[] {
  if (raw !== undefined) {
    // Except for the words of their URLs, the texts of citations are among the out-of-band texts.
    const addresses = events.some(isCitation)
      ? events.flatMap((event) => (isCitation(event) ? wordsOf(event.citation) : none))
      : none
    return outOfBand.length + addresses.length === 0 ? none : [...outOfBand.flatMap(asText), ...addresses]
  }
  return events.flatMap((event) => {
    // A reasoning signature is no text, but an upstream could send text in its field.
    if (event.type === 'signature') return asText({ field: 'signature', text: event.signature.value })
    return isCitation(event) ? textsOf(event.citation) : none
  })
}

const isCitation = (event: InferenceEvent): event is Extract<InferenceEvent, { type: 'citation' }> =>
  event.type === 'citation'

function textsOf(citation: Citation): readonly OutOfBandText[] {
  const { title, passage = '', proof = '' } = citation
  const texts = [
    { field: 'citation.title', text: title },
    { field: 'citation.passage', text: passage },
    { field: 'citation.proof', text: proof },
  ]
  return [...texts.filter(({ text }) => text !== '').flatMap(asText), ...wordsOf(citation)]
}

/** The words in a URL. Numbers are left out, because an id in a URL may look like personal data. */
function wordsOf({ url }: Citation): readonly OutOfBandText[] {
  const words = url.split(/[^\p{L}\p{M}\p{N}]+/u).filter((word) => /\p{L}/u.test(word))
  return [{ field: 'citation.url', text: words.join(' ') }]
}

const none: readonly never[] = []

function asText(outOfBand: OutOfBandText): readonly OutOfBandText[] {
  const text = textOfAddress(outOfBand.text)
  return text === undefined ? none : [{ ...outOfBand, text }]
}
