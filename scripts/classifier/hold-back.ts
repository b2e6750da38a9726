/**
 * Measures hold-back: texts stream word by word, and part of them waits until it is scored. What is shown of a text before it is
 * denied is weighed against how late harmless text arrives. The result contains numbers only, no text.
 */
import { fileURLToPath } from 'node:url'
import type { MaybePromise } from '../../src/base/maybe-promise.ts'
import { alwaysBlockedCategories, categories, type Category } from '../../src/domain/scan/classify/categories.ts'
import {
  closestLogOdds,
  holdBackBoundOf,
  type Classification,
  type Classifier,
  type HoldBackBounds,
} from '../../src/domain/scan/classify/classifier.ts'
import { createWordEnd } from '../../src/domain/scan/normalise/word-end.ts'
import { writeAuthored } from './authored.ts'
import { quantile } from './metrics.ts'
import { createSeeded } from './seeded.ts'

/**
 * The bounds in the header of the model. Chosen so that less of each kind of positive is shown than with fixed hold-back, and that 99
 * of 100 characters of everyday answers are less than 300 ms late at 20 words a second. The other three categories are close to
 * their thresholds in ordinary text, so that their bounds are narrow. Those of both stages are wider: the median of what is shown of
 * self-harm stays the same, its 90th percentile does not.
 */
export const holdBackBounds: HoldBackBounds = {
  categories: {
    'self-harm': { elevatedFrom: -5.2, holdFrom: -4.5 },
    'sexual/minors': { elevatedFrom: -5.8, holdFrom: -5 },
    harassment: { elevatedFrom: -4, holdFrom: -3 },
    hate: { elevatedFrom: -4, holdFrom: -3 },
    illicit: { elevatedFrom: -5, holdFrom: -3 },
    sexual: { elevatedFrom: -8, holdFrom: -4 },
  },
  bothStages: { 'self-harm': { elevatedFrom: -4.5, holdFrom: -1.5 } },
  keptBackCharacters: 128,
  openingWords: 5,
}

/** Of positives of 200 characters and more: how many are denied, of which share nothing is shown, and the characters shown. */
export type ShownFigures = {
  readonly texts: number
  readonly denied: number
  readonly nothingShown: number
  readonly median: number
  readonly p90: number
}
/** How many characters later a character of harmless text leaves. At 20 words a second, 120 characters are one second. */
export type DelayFigures = {
  readonly median: number
  readonly mean: number
  readonly p99: number
  /** Share of the texts in which nothing leaves for a while. */
  readonly everFrozen: number
}
export type HoldBackFigures = {
  readonly shown: Readonly<Record<string, ShownFigures>>
  /** The same for positives that come after harmless text, which does not count. */
  readonly shownLater: Readonly<Record<string, ShownFigures>>
  readonly delay: Readonly<Record<string, DelayFigures>>
}

export type HoldBackTexts = {
  readonly positives: Readonly<Partial<Record<Category, readonly string[]>>>
  /** Turns of conversations. */
  readonly turns: readonly string[]
}

/** Fixed hold-back, for comparison, and hold-back by risk. */
export async function measureHoldBack(
  classifier: Classifier,
  texts: HoldBackTexts,
): Promise<Readonly<Record<string, HoldBackFigures>>> {
  return {
    'fixed, 64 characters': await figuresOf(holdBackFixed(classifier, 64), texts),
    'fixed, 32 characters': await figuresOf(holdBackFixed(classifier, 32), texts),
    ...(await measureHoldBackByRisk(classifier, texts)),
  }
}

/** `untilRead` lets the time of a word pass, in which the encoder reads what it was asked about. */
export async function measureHoldBackByRisk(
  classifier: Classifier,
  texts: HoldBackTexts,
  untilRead: () => Promise<void> = async () => {},
): Promise<Readonly<Record<string, HoldBackFigures>>> {
  return { 'by risk': await figuresOf(holdBackByRisk(classifier, untilRead), texts) }
}

async function figuresOf(holdBack: HoldBack, { positives, turns }: HoldBackTexts): Promise<HoldBackFigures> {
  const shown: Record<string, ShownFigures> = {}
  for (const category of categories) {
    const texts = positives[category]
    if (texts !== undefined) shown[category] = await shownOf(texts.filter(isLong).map(asPositive), category, holdBack)
  }
  const buried = buriedTexts(positives['self-harm'] ?? [])
  return {
    shown,
    shownLater: { 'self-harm after harmless text': await shownOf(buried, 'self-harm', holdBack) },
    delay: {
      'everyday answers': await delayOf(writeAnswers(), holdBack),
      'turns of real conversations': await delayOf(turns.filter((text) => text.length >= 100).slice(0, 800), holdBack),
    },
  }
}

/** Answers of some 600 characters from the authored templates. */
function writeAnswers(): readonly string[] {
  const folder = fileURLToPath(new URL('authored', import.meta.url))
  const lines = writeAuthored(folder, 7).flatMap(({ file, text }) => (file === 'responses.txt' ? [text] : []))
  const chance = createSeeded(3)
  return Array.from({ length: 300 }, () => {
    let answer = ''
    while (answer.length < 600) answer += `${lines[Math.floor(chance() * lines.length)] ?? ''} `
    return answer.trimEnd()
  })
}

/** A positive, and how much harmless text is before it. Only what is shown of the positive counts. */
type Positive = { readonly text: string; readonly from: number }

const asPositive = (text: string): Positive => ({ text, from: 0 })

/** Some sentences before each text. */
function buriedTexts(texts: readonly string[]): readonly Positive[] {
  const answers = writeAnswers()
  return texts.filter(isLong).map((text, at) => {
    const before = answers[at % answers.length]?.slice(0, buriedAfter).replace(/\S*$/, '') ?? ''
    return { text: before + text, from: before.length }
  })
}

const buriedAfter = 350
const isLong = (text: string): boolean => text.length >= 200

type Streamed = {
  readonly shown: number
  readonly isDenied: boolean
  readonly delays: readonly number[]
  readonly isFrozen: boolean
}
/** Streams a text word by word, with these categories enforced. */
type HoldBack = (text: string, enforced: ReadonlySet<Category>) => Promise<Streamed>

const alwaysBlocked: ReadonlySet<Category> = new Set(alwaysBlockedCategories)

/** Hold-back by risk: bounds per category, a peek at every word, denials at decision points. */
function holdBackByRisk({ startStream, holdBackBounds: bounds }: Classifier, untilRead: () => Promise<void>): HoldBack {
  if (startStream === undefined || bounds === undefined) throw new Error('The classifier has no hold-back bounds.')
  return async (text, enforced) => {
    using stream = startStream('response', { categories: enforced, organizationId: '' })
    return await streamText(text, {
      async deniesAfter(word) {
        await untilRead()
        await stream.push(word)
        return isFlagged(stream.decided(), enforced)
      },
      clearedTo() {
        const risk = riskOf(stream.peek(), bounds, enforced)
        if (risk === 'hold' || wordsIn(text.slice(0, stream.settledTo())) < bounds.openingWords) return undefined
        return stream.settledTo() - (risk === 'clear' ? 0 : bounds.keptBackCharacters)
      },
      async deniesAtEnd() {
        const { whole, decided } = await stream.end()
        return isFlagged(whole, enforced) || isFlagged(decided, enforced)
      },
    })
  }
}

/** Fixed hold-back: windows of 512 characters at every 128, and `kept` characters wait. For comparison. */
function holdBackFixed(classifier: Classifier, kept: number): HoldBack {
  return (text, enforced) => {
    const wordEnd = createWordEnd()
    let streamed = ''
    let checkedTo = 0
    const windowAt = (end: number): MaybePromise<Classification> => {
      const start = end > 512 ? wordEnd(streamed, end - 512) : 0
      return classifier.classify(streamed.slice(start, end), 'response')
    }
    return streamText(text, {
      async deniesAfter(word) {
        streamed += word
        let denies = false
        for (; streamed.length >= checkedTo + 128; checkedTo += 128)
          denies ||= isFlagged(await windowAt(wordEnd(streamed, checkedTo + 128)), enforced)
        return denies
      },
      clearedTo: async () =>
        closestLogOdds(await windowAt(streamed.length), enforced) > -3 ? undefined : streamed.length - kept,
      deniesAtEnd: async () => isFlagged(await classifier.classify(streamed, 'response'), enforced),
    })
  }
}

type Scheme = {
  deniesAfter(word: string): Promise<boolean>
  /** Undefined if nothing more may leave. */
  clearedTo(): MaybePromise<number | undefined>
  deniesAtEnd(): Promise<boolean>
}

async function streamText(text: string, { deniesAfter, clearedTo, deniesAtEnd }: Scheme): Promise<Streamed> {
  const delays: number[] = []
  let pushed = 0
  let isFrozen = false
  for (const [word] of text.matchAll(/\s*\S+|\s+$/g)) {
    pushed += word.length
    if (await deniesAfter(word)) return { shown: delays.length, isDenied: true, delays, isFrozen }
    const cleared = await clearedTo()
    isFrozen ||= cleared === undefined && delays.length > 0
    for (let at = delays.length; at < (cleared ?? 0); at++) delays.push(pushed - at - 1)
  }
  if (await deniesAtEnd()) return { shown: delays.length, isDenied: true, delays, isFrozen }
  for (let at = delays.length; at < text.length; at++) delays.push(text.length - at - 1)
  return { shown: text.length, isDenied: false, delays, isFrozen }
}

const wordsIn = (text: string): number => text.match(/\S+/g)?.length ?? 0

const isFlagged = (classification: Classification | undefined, enforced: ReadonlySet<Category>): boolean =>
  classification?.flagged.some((category) => enforced.has(category)) ?? false

function riskOf(
  classification: Classification,
  bounds: HoldBackBounds,
  enforced: ReadonlySet<Category>,
): 'clear' | 'elevated' | 'hold' {
  let risk: 'clear' | 'elevated' | 'hold' = 'clear'
  for (const category of enforced) {
    const distance = closestLogOdds(classification, new Set([category]))
    const { elevatedFrom, holdFrom } = holdBackBoundOf(bounds, category, classification.stage)
    if (distance >= holdFrom) return 'hold'
    if (distance >= elevatedFrom) risk = 'elevated'
  }
  return risk
}

async function shownOf(positives: readonly Positive[], category: Category, holdBack: HoldBack): Promise<ShownFigures> {
  const enforced = new Set([...alwaysBlocked, category])
  const texts = positives.map(({ text }) => text)
  const streamed = await streamAll(texts, enforced, holdBack)
  const shown = streamed.flatMap((text, at) =>
    text.isDenied ? [Math.max(0, text.shown - (positives[at]?.from ?? 0))] : [],
  )
  return {
    texts: texts.length,
    denied: shown.length,
    nothingShown: rounded(shown.filter((characters) => characters === 0).length / shown.length),
    median: quantile(shown, 0.5),
    p90: quantile(shown, 0.9),
  }
}

async function streamAll(
  texts: readonly string[],
  enforced: ReadonlySet<Category>,
  holdBack: HoldBack,
): Promise<readonly Streamed[]> {
  const streamed: Streamed[] = []
  for (const text of texts) streamed.push(await holdBack(text, enforced))
  return streamed
}

/** Texts that are denied are left out: they are no harmless text to this model. */
async function delayOf(texts: readonly string[], holdBack: HoldBack): Promise<DelayFigures> {
  const streamed = (await streamAll(texts, alwaysBlocked, holdBack)).filter(({ isDenied }) => !isDenied)
  const delays = streamed.flatMap((text) => text.delays)
  return {
    median: quantile(delays, 0.5),
    mean: Math.round(delays.reduce((sum, delay) => sum + delay, 0) / delays.length),
    p99: quantile(delays, 0.99),
    everFrozen: rounded(streamed.filter(({ isFrozen }) => isFrozen).length / streamed.length),
  }
}

const rounded = (value: number): number => Math.round(value * 1e4) / 1e4
