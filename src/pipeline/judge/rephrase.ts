import { Fault } from '../../base/fault.ts'
import type { Random } from '../../base/random.ts'
import type { Rephrase } from '../../domain/evaluation/verdict/rephrase.ts'
import { estimateTokens } from '../../domain/inference/count.ts'
import { rephrasePrompt } from '../../domain/policy/judge-prompt.ts'
import type { AskModel } from './ask-model.ts'

export type RephraseParts = { readonly ask: AskModel; readonly random: Random; readonly timeoutMs: number }

/** What is longer is refused: a model that writes it anew would take minutes, and lose half of it. */
const mostCharacters = 32_000
const fewestTokens = 128

/** Writes texts anew with the judge's model, under a fixed instruction. */
export function createRephrase({ ask, random, timeoutMs }: RephraseParts): Rephrase {
  return async (text, kind, signal) => {
    if (text.length > mostCharacters) throw impossible('The text is too long to be written anew.')
    const mark = Buffer.from(random.bytes(16)).toString('hex')
    const maxOutputTokens = kind === 'summary' ? fewestTokens * 2 : fewestTokens + 2 * estimateTokens(text)
    const answer = await ask({ ...rephrasePrompt(text, kind, mark), maxOutputTokens, timeoutMs }, signal)
    const written = answer.trim()
    // A model that repeats the mark has mistaken the frame for the picture.
    if (written === '' || written.includes(mark)) throw impossible('The text could not be written anew.')
    return written
  }
}

const impossible = (message: string): Fault => new Fault('upstream_failed', 'upstream_error', message)
