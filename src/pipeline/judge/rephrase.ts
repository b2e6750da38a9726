import { Fault } from '../../base/fault.ts'
import type { Random } from '../../base/random.ts'
import type { Rephrase } from '../../domain/evaluation/verdict/rephrase.ts'
import { estimateTokens } from '../../domain/inference/count.ts'
import { rephrasePrompt } from '../../domain/policy/judge-prompt.ts'
import type { CallModel } from './call-model.ts'

export type RephraseParts = { readonly callModel: CallModel; readonly random: Random; readonly timeoutMs: number }

/** Longer texts are rejected, because rephrasing them would take minutes and lose content. */
const maxCharacters = 32_000
const minTokens = 128

/** Rephrases texts with the judge's model, under a fixed instruction. */
export function createRephrase({ callModel, random, timeoutMs }: RephraseParts): Rephrase {
  return async (text, kind, signal) => {
    if (text.length > maxCharacters) throw impossible('The text is too long to be rephrased.')
    const mark = Buffer.from(random.bytes(16)).toString('hex')
    const maxOutputTokens = kind === 'summary' ? minTokens * 2 : minTokens + 2 * estimateTokens(text)
    const answer = await callModel({ ...rephrasePrompt(text, kind, mark), maxOutputTokens, timeoutMs }, signal)
    const rephrased = answer.trim()
    // A model that repeats the mark has copied the prompt instead of the text.
    if (rephrased === '' || rephrased.includes(mark)) throw impossible('The text could not be rephrased.')
    return rephrased
  }
}

const impossible = (message: string): Fault => new Fault('upstream_failed', 'upstream_error', message)
