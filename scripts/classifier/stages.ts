/** The classifier as requests use it: through the whole scan, without a cache; the linear stage alone, or with the encoder. */
import { createEmbeddedClassifier } from '../../src/adapters/classifiers/embedded/classifier.ts'
import type { ClassifierModel } from '../../src/adapters/classifiers/embedded/model.ts'
import { openEncoder } from '../../src/adapters/classifiers/encoder/encoder.ts'
import { systemClock, type Clock } from '../../src/base/clock.ts'
import { createCascade } from '../../src/domain/scan/classify/cascade.ts'
import type { PerCategory } from '../../src/domain/scan/classify/categories.ts'
import type { Classification, Classifier, TextDirection } from '../../src/domain/scan/classify/classifier.ts'
import type { Encoder, EncoderQuestion } from '../../src/domain/scan/classify/encoder.ts'
import { createScanText } from '../../src/domain/scan/scan.ts'

export type Judge = (text: string, direction: TextDirection) => Promise<Classification>

/** The linear stage alone. */
export const createJudge = (model: ClassifierModel): Judge => judgeBy(createEmbeddedClassifier(model))

export type BothStages = AsyncDisposable & {
  readonly identity: Pick<Encoder['identity'], 'version' | 'digest'>
  readonly classifier: Classifier
  readonly judge: Judge
  /** Lets the time of a word pass, in which the encoder answers every call. */
  untilRead(): Promise<void>
  measureCost(texts: readonly string[]): Promise<CostFigures>
}

export type CostFigures = {
  /** Share of the texts about which the encoder was asked. */
  readonly asked: number
  /** Milliseconds of one core, per text asked about, per kilobyte of these texts, and per kilobyte of all texts. */
  readonly perAskedText: number
  readonly perAskedKilobyte: number
  readonly perKilobyte: number
}

/** Opens both stages, or says why there is no encoder. */
export async function openBothStages(model: ClassifierModel): Promise<BothStages | { readonly problem: string }> {
  const opened = await openEncoder({ clock: systemClock })
  if ('problem' in opened) return { problem: opened.problem.message }
  const { encoder } = opened
  const status = await encoder.started()
  if (status.state !== 'ready') {
    await encoder[Symbol.asyncDispose]()
    return { problem: status.state === 'off' ? status.problem.message : `The encoder is ${status.state}.` }
  }
  const { clock, pass } = createPatientClock()
  const cascadeOf = (asked: Encoder): Classifier =>
    createCascade({ first: createEmbeddedClassifier(model), encoder: asked, clock, onResult: () => {} })
  const known = cached(encoder)
  const classifier = cascadeOf(known)
  return {
    identity: { version: encoder.identity.version, digest: encoder.identity.digest },
    classifier,
    judge: judgeBy(classifier),
    async untilRead() {
      pass(wordMs)
      await known.untilRead()
    },
    measureCost: (texts) => measureCost(texts, judgeBy(cascadeOf(encoder))),
    [Symbol.asyncDispose]: () => encoder[Symbol.asyncDispose](),
  }
}

function judgeBy(classifier: Classifier): Judge {
  const scan = createScanText({ classifier, cacheEntries: 0, pause: () => Promise.resolve() })
  return async (text, direction) => {
    const { classification } = await scan({ text, direction })
    if (classification.isProvisional === true) throw new Error('The encoder failed, so its figures would be wrong.')
    return classification
  }
}

/** The time between two words of a streamed text. */
const wordMs = 50

/** No time limit ever ends: the figures must not depend on how busy the machine is. */
function createPatientClock(): { readonly clock: Clock; pass(ms: number): void } {
  let nowMs = 0
  return {
    clock: { nowMs: () => nowMs, monotonicMs: () => nowMs, after: () => () => {} },
    pass: (ms) => void (nowMs += ms),
  }
}

/** Remembers the logits of every text: the same texts are judged in both directions and for several tables. */
function cached(encoder: Encoder): Encoder & Pick<BothStages, 'untilRead'> {
  const known = new Map<string, PerCategory<number>>()
  const reading = new Set<Promise<unknown>>()

  async function read(text: string, question?: EncoderQuestion): Promise<PerCategory<number>> {
    const logits = known.get(text) ?? (await encoder.score(text, question))
    known.set(text, logits)
    return logits
  }

  return {
    identity: encoder.identity,
    stack: encoder.stack,
    async score(text, question) {
      const answer = read(text, question)
      reading.add(answer)
      return await answer.finally(() => reading.delete(answer))
    },
    async untilRead() {
      while (reading.size > 0) await Promise.allSettled(reading)
      await new Promise(setImmediate)
    },
  }
}

/** In time of the processor, which depends less on how busy the machine is. The linear stage, which is part of it, takes a hundredth. */
async function measureCost(texts: readonly string[], judge: Judge): Promise<CostFigures> {
  const kilobytesOf = (text: string): number => Buffer.byteLength(text) / 1024
  const start = process.cpuUsage()
  let asked = 0
  let askedKilobytes = 0
  for (const text of texts) {
    if ((await judge(text, 'request')).stage === undefined) continue
    asked += 1
    askedKilobytes += kilobytesOf(text)
  }
  const { user, system } = process.cpuUsage(start)
  const spentMs = (user + system) / 1000
  const kilobytes = texts.reduce((sum, text) => sum + kilobytesOf(text), 0)
  const tenths = (value: number): number => Math.round(value * 10) / 10
  return {
    asked: Math.round((asked / texts.length) * 1e4) / 1e4,
    perAskedText: asked === 0 ? 0 : tenths(spentMs / asked),
    perAskedKilobyte: askedKilobytes === 0 ? 0 : tenths(spentMs / askedKilobytes),
    perKilobyte: tenths(spentMs / kilobytes),
  }
}
