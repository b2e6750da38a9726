import type { EncoderStatus } from '../../src/adapters/classifiers/encoder/thread.ts'
import type { World } from '../../src/app.ts'
import type { Clock } from '../../src/base/clock.ts'
import { perCategory, type Category, type PerCategory } from '../../src/domain/scan/classify/categories.ts'
import type { Encoder, EncoderQuestion, StackedCategory } from '../../src/domain/scan/classify/encoder.ts'

type OpenEncoder = NonNullable<World['openEncoder']>

export type FakeLogits = Partial<Record<Category, number>>

/** Scores of such a category come from the encoder alone: the sigmoid of its logit. */
const encoderAlone: StackedCategory = {
  askFrom: -3,
  encoder: { weight: 1, mean: 0, deviation: 1 },
  linear: { weight: 0, mean: 0, deviation: 1 },
  slope: 1,
  thresholds: { request: 0, response: 0 },
}
const linearAlone: StackedCategory = {
  ...encoderAlone,
  encoder: { weight: 0, mean: 0, deviation: 1 },
  linear: { weight: 1, mean: 0, deviation: 1 },
}

export type FakeEncoder = Encoder & {
  /** The texts it was asked about. */
  readonly texts: string[]
  readonly questions: readonly EncoderQuestion[]
}

/** An encoder that gives the logits of `judge`, -9 where they are missing. */
export function createFakeEncoder(
  judge: (text: string) => FakeLogits | Promise<FakeLogits>,
  categories: Partial<PerCategory<StackedCategory>> = {},
): FakeEncoder {
  const texts: string[] = []
  const questions: EncoderQuestion[] = []
  return {
    texts,
    questions,
    identity: { id: 'encoder', version: '1', digest: 'e' },
    stack: {
      categories: perCategory(
        (category) => categories[category] ?? (category === 'sexual/minors' ? linearAlone : encoderAlone),
      ),
    },
    async score(text, question) {
      texts.push(text)
      if (question !== undefined) questions.push(question)
      const logits = await judge(text)
      return perCategory((category) => logits[category] ?? -9)
    },
  }
}

/** Opens a fake in the place of the encoder of the package. */
export const opens =
  (encoder: Encoder, started: EncoderStatus = { state: 'ready' }): OpenEncoder =>
  async () => ({
    encoder: {
      ...encoder,
      status: () => started,
      started: async () => started,
      queued: () => 0,
      [Symbol.asyncDispose]: async () => {},
    },
  })

/** The package is not installed. */
export const opensNothing: OpenEncoder = async () => ({
  problem: { code: 'package_missing', message: 'The package gatehouse-moderation-encoder is not installed.' },
})

/** An encoder that never answers. */
export const createSilentEncoder = (): FakeEncoder =>
  createFakeEncoder(() => Promise.withResolvers<FakeLogits>().promise)

/** An encoder that needs as long for a text as the real one does on a slow machine, by a clock. It reads one text after the other. */
export function createSlowEncoder({ after }: Pick<Clock, 'after'>, judge: (text: string) => FakeLogits): FakeEncoder {
  let last: Promise<unknown> = Promise.resolve()
  return createFakeEncoder((text) => {
    const read = (): Promise<FakeLogits> =>
      new Promise((resolve) => void after(text.length * slowMsPerCharacter, () => resolve(judge(text))))
    const answer = last.then(read)
    last = answer
    return answer
  })
}

const slowMsPerCharacter = 0.045
