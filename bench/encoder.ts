/**
 * What the encoder costs behind the embedded classifier, on ordinary texts and on texts near a threshold: the share of texts that it
 * reads, the CPU time of the process with its thread, and how long a text waits, complete or in a stream.
 *
 *   node bench/encoder.ts [--json]
 */
import { createEmbeddedClassifier } from '../src/adapters/classifiers/embedded/classifier.ts'
import { openEncoder } from '../src/adapters/classifiers/encoder/encoder.ts'
import { systemClock } from '../src/base/clock.ts'
import { createCascade } from '../src/domain/scan/classify/cascade.ts'
import type { Classifier } from '../src/domain/scan/classify/classifier.ts'
import { startClassifierStream } from '../src/domain/scan/classify/windowed-stream.ts'
import { createTextWriter } from './load/text.ts'

const texts = 200
const characters = 1_024
const chunkCharacters = 20

const opened = await openEncoder({ clock: systemClock })
if ('problem' in opened) throw new Error(opened.problem.message)
await using encoder = opened.encoder
const status = await encoder.started()
if (status.state !== 'ready') throw new Error(`The encoder is ${status.state}.`)

let asked = 0
const linear = createEmbeddedClassifier()
const both = createCascade({ first: linear, encoder, clock: systemClock, onResult: () => void (asked += 1) })

/** New text every time, because results are cached by text. */
const write = createTextWriter(7)
const ordinary = (): string => write(characters)
const near = (): string => `They spoke about his suicide, and that the others are stupid idiots. ${write(200)}`

type Work = (text: string) => unknown

const complete =
  (classifier: Classifier): Work =>
  (text) =>
    classifier.classify(text, 'request')

const streamed =
  (classifier: Classifier): Work =>
  async (text) => {
    using stream = startClassifierStream(classifier, 'response')
    for (let at = 0; at < text.length; at += chunkCharacters) await stream.push(text.slice(at, at + chunkCharacters))
    await stream.end()
  }

async function measure(writeText: () => string, work: Work) {
  const written = Array.from({ length: texts }, writeText)
  const waits: number[] = []
  asked = 0
  const before = process.cpuUsage()
  for (const text of written) {
    const startedMs = systemClock.monotonicMs()
    await work(text)
    waits.push(systemClock.monotonicMs() - startedMs)
  }
  const { user, system } = process.cpuUsage(before)
  waits.sort((one, other) => one - other)
  const quantile = (share: number): number => waits[Math.floor(texts * share)] ?? 0
  return {
    asked_per_text: asked / texts,
    cpu_ms_per_kb: (user + system) / 1_000 / (written.join('').length / 1_024),
    p50_ms: quantile(0.5),
    p99_ms: quantile(0.99),
  }
}

await measure(near, complete(both)) // warms both stages
const rows = {
  'ordinary, first stage': await measure(ordinary, complete(linear)),
  'ordinary, with encoder': await measure(ordinary, complete(both)),
  'near, first stage': await measure(near, complete(linear)),
  'near, with encoder': await measure(near, complete(both)),
  'ordinary stream, first stage': await measure(ordinary, streamed(linear)),
  'ordinary stream, with encoder': await measure(ordinary, streamed(both)),
  'near stream, with encoder': await measure(near, streamed(both)),
}

if (process.argv.includes('--json')) console.log(JSON.stringify(rows))
else console.table(Object.fromEntries(Object.entries(rows).map(([name, row]) => [name, rounded(row)])))

function rounded(row: Readonly<Record<string, number>>): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, Number(value.toPrecision(3))]))
}
