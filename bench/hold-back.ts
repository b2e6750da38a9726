/**
 * How late harmless answers arrive, because a part of them is held back. Answers stream word by word through the scanner of
 * responses, at 20 words a second of a simulated clock, without rules. A word is late from when it arrives to when it may be sent.
 *
 *   node bench/hold-back.ts [--encoder] [--json]    with --encoder also the second stage: real answers, in the time that is usual
 */
import { parseArgs } from 'node:util'
import { createEmbeddedClassifier } from '../src/adapters/classifiers/embedded/classifier.ts'
import { createCascade } from '../src/domain/scan/classify/cascade.ts'
import type { Classifier } from '../src/domain/scan/classify/classifier.ts'
import { readAnswers } from './answers/read.ts'
import { openPacedEncoder } from './answers/paced-encoder.ts'
import { createPacedClock } from './answers/paced-clock.ts'
import { streamAnswer, type StreamedAnswer } from './answers/stream.ts'

const { values: options } = parseArgs({ options: { encoder: { type: 'boolean' }, json: { type: 'boolean' } } })
const paced = createPacedClock()
const first = createEmbeddedClassifier()
await using encoder = options.encoder === true ? await openPacedEncoder(paced) : undefined
const classifier: Classifier =
  encoder === undefined ? first : createCascade({ first, encoder, clock: paced.clock, onResult: () => undefined })

const rows: Record<string, ReturnType<typeof figuresOf>> = {}
for (const [kind, answers] of readAnswers()) {
  const streamed: StreamedAnswer[] = []
  const askedBefore = encoder?.asked() ?? 0
  for (const answer of answers) streamed.push(await streamAnswer(classifier, answer, paced))
  rows[kind] = figuresOf(streamed, (encoder?.asked() ?? 0) - askedBefore)
}
if (options.json === true) console.log(JSON.stringify(rows))
else console.table(rows)

/** An answer that is denied does not count as late. `asked`: how often the encoder was. */
function figuresOf(streamed: readonly StreamedAnswer[], asked: number) {
  const sent = streamed.filter(({ isDenied }) => !isDenied)
  const lates = sent.flatMap(({ latesMs }) => latesMs).toSorted((one, other) => one - other)
  const late = (share: number): number => lates[Math.min(lates.length - 1, Math.floor(lates.length * share))] ?? 0
  const heldPoints = sent.reduce((sum, { held }) => sum + held, 0)
  const points = sent.reduce((sum, { points: own }) => sum + own, 0)
  return {
    p50_ms: late(0.5),
    p99_ms: late(0.99),
    max_ms: late(1),
    held_percent: percent(heldPoints, points),
    streams_held_percent: percent(sent.filter(({ held }) => held > 0).length, sent.length),
    asked_per_100_words: percent(asked, points),
    denied: streamed.length - sent.length,
    streams: streamed.length,
  }
}

function percent(part: number, whole: number): number {
  return Math.round((part / whole) * 10_000) / 100
}
