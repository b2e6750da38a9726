import { openEncoder } from '../../src/adapters/classifiers/encoder/encoder.ts'
import { systemClock } from '../../src/base/clock.ts'
import type { PerCategory } from '../../src/domain/scan/classify/categories.ts'
import type { Encoder } from '../../src/domain/scan/classify/encoder.ts'
import type { PacedClock } from './paced-clock.ts'

/** What a text takes on one core. */
const textMs = 8
const kilobyteMs = 35

export type PacedEncoder = Encoder & AsyncDisposable & { asked(): number }

/** The real encoder. Its answers take the usual time of a simulated clock, one after the other. */
export async function openPacedEncoder({ clock, work }: PacedClock): Promise<PacedEncoder> {
  const opened = await openEncoder({ clock: systemClock })
  if ('problem' in opened) throw new Error(opened.problem.message)
  const { encoder } = opened
  const status = await encoder.started()
  if (status.state !== 'ready') throw new Error(`The encoder is ${status.state}.`)
  let busyUntilMs = 0
  let asked = 0

  async function score(text: string, question?: Parameters<Encoder['score']>[1]): Promise<PerCategory<number>> {
    asked += 1
    const logits = await work(encoder.score(text, question))
    const ms = textMs + (kilobyteMs * text.length) / 1_024
    busyUntilMs = Math.max(busyUntilMs, clock.monotonicMs()) + ms
    await new Promise<void>((resolve) => void clock.after(busyUntilMs - clock.monotonicMs(), resolve))
    return logits
  }

  return {
    identity: encoder.identity,
    stack: encoder.stack,
    score,
    asked: () => asked,
    [Symbol.asyncDispose]: () => encoder[Symbol.asyncDispose](),
  }
}
