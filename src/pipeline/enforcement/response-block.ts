import { andThen, type MaybePromise } from '../../base/maybe-promise.ts'
import type { Evaluation } from '../../domain/evaluation/evaluate.ts'
import type { WholeBlock } from '../../domain/evaluation/stream/stream-scanner.ts'
import { textOfJson } from '../../domain/evaluation/texts/request-texts.ts'
import { stringsIn } from '../../domain/evaluation/texts/text-fields.ts'
import { denialOf, isDenied, type Decision } from '../../domain/evaluation/verdict/combine.ts'
import { isRephrasing } from '../../domain/evaluation/verdict/rephrase.ts'
import type { BlockStart, InferenceEvent } from '../../domain/inference/events.ts'

/** Rephrases a text as the verdict requires; undefined if that is not possible. */
export type RephraseBlock = (evaluation: Evaluation) => Promise<string | undefined>

/** Replaces the held text of a block. */
export type ReplaceText = (block: number, text: string) => void

/** Acts on the verdict of a complete block. Returns whether the block may be sent. */
type SettleBlock = (evaluation: Evaluation, part: BlockStart, block: number) => MaybePromise<boolean>

/** Adds the decisions on each block to `decisions`. A block that cannot be rephrased as required is denied. */
export const createSettleBlock =
  (rephrase: RephraseBlock, decisions: Decision[], replaceText: ReplaceText): SettleBlock =>
  (evaluation, part, block) => {
    const { verdict } = evaluation
    decisions.push(...verdict.decisions)
    if (!isRephrasing(verdict.effectiveDecision)) return !isDenied(verdict)
    const isProse = part.type !== 'tool-call' && part.type !== 'opaque'
    return andThen(isProse ? rephrase(evaluation) : undefined, (text) => {
      if (text === undefined) decisions.push(...denialOf(verdict))
      else replaceText(block, text)
      return text !== undefined
    })
  }

/** The text that an event adds to its block; undefined if it adds none. */
export function textIn(event: InferenceEvent): string | undefined {
  if (event.type === 'delta') return event.text
  return event.type === 'open' && event.part.type === 'opaque' ? stringsIn(event.part.raw).join('\n') : undefined
}

/** How a block that is not prose is evaluated: only the strings inside the JSON of a tool call are. */
export function wholeBlockOf(part: BlockStart): WholeBlock | undefined {
  if (part.type === 'tool-call') return { textOf: (json) => `${part.name}\n${textOfJson(json)}` }
  return part.type === 'opaque' ? {} : undefined
}
