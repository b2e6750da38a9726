import { parentPort } from 'node:worker_threads'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { cutRuns } from './runs.ts'

/** Beyond this a count is not worth its time: the rest is taken by length. */
const maxCharacters = 2_000_000
const charactersPerToken = 3.5

parentPort?.on('message', ({ id, texts }: { id: number; texts: readonly string[] }) => {
  parentPort?.postMessage({ id, count: texts.reduce((sum, text) => sum + countOf(text), 0) })
})

function countOf(text: string): number {
  const rest = Math.max(0, text.length - maxCharacters)
  const counted = cutRuns(text.slice(0, maxCharacters)).reduce(
    (sum, piece) => sum + countTokens(piece, { allowedSpecial: 'all' }),
    0,
  )
  return counted + Math.ceil(rest / charactersPerToken)
}
