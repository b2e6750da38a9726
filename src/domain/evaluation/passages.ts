import type { Category } from '../scan/classify/categories.ts'
import type { ClassificationReader, TextDirection } from '../scan/classify/classifier.ts'
import type { Span } from '../scan/normalise/normalise.ts'
import { promptInjection } from '../scan/injection/places.ts'
import type { ScanResult, ScanText } from '../scan/scan.ts'

/** What a passage is searched for. */
export type PassageKind = Category | typeof promptInjection

/** Parts of a text that are classified to find the one behind a category. */
const maxPassages = 200
const windowCharacters = 512

type ClassifiedText = {
  readonly text: string
  readonly direction: TextDirection
  readonly reader: ClassificationReader
}

type FindPassage = (classified: ClassifiedText, category: PassageKind) => Promise<Span>

/** Finds the part of a text that has a category or a prompt injection. */
export function createFindPassage(scanText: ScanText): FindPassage {
  return passageOf

  /** The sentence with the highest score, or the window with the highest score if no sentence alone is flagged. */
  async function passageOf(scanned: ClassifiedText, category: PassageKind): Promise<Span> {
    const sentences = [...scanned.text.matchAll(/[^.!?\n]+[.!?\n]*/g)].map(({ 0: sentence, index }) => ({
      start: index + sentence.length - sentence.trimStart().length,
      end: index + sentence.trimEnd().length,
    }))
    const isSearched = sentences.length > 1 && sentences.length <= maxPassages
    const sentence = isSearched ? await highestOf(scanned, category, { spans: sentences, above: 0.5 }) : undefined
    if (sentence !== undefined) return sentence
    const window = await highestOf(scanned, category, { spans: windowsOf(scanned.text), above: 0 })
    return window ?? { start: 0, end: scanned.text.length }
  }

  async function highestOf(
    { text, direction, reader }: ClassifiedText,
    category: PassageKind,
    { spans, above }: { readonly spans: readonly Span[]; readonly above: number },
  ): Promise<Span | undefined> {
    const scansForInjection = category === promptInjection
    let best: Span | undefined
    let highest = above
    for (const span of spans) {
      const part = text.slice(span.start, span.end)
      const scan = await scanText({ text: part, direction, reader, skipsPersonalData: true, scansForInjection })
      const score = scoreOf(scan, category)
      if (score <= highest) continue
      highest = score
      best = span
    }
    return best
  }
}

const scoreOf = ({ classification, injection = 0 }: ScanResult, kind: PassageKind): number =>
  kind === promptInjection ? injection : classification.scores[kind]

/** Overlapping, so that a passage at a border is whole in one of them. A very long text has none. */
function windowsOf({ length }: string): readonly Span[] {
  const step = windowCharacters / 2
  const count = length <= windowCharacters ? 0 : Math.ceil(length / step) - 1
  const spanAt = (start: number): Span => ({ start, end: Math.min(length, start + windowCharacters) })
  return count > maxPassages ? [] : Array.from({ length: count }, (_, at) => spanAt(at * step))
}
