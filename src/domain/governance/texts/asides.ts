import type { Piece } from '../../inference/events.ts'
import { isRecord } from '../../../base/record.ts'
import { wordsIn } from './strings.ts'

/** Fields of an answer that reach a caller of the upstream's dialect although no event of ours tells of them. */
const names = ['citation', 'citations', 'annotation', 'annotations', 'reasoning_details', 'function_call', 'audio']
const asides = new Set(names)
/** Rules out nearly every frame without parsing it; most that have such a field have an empty one. */
const holdsOne = new RegExp(`"(?:${names.join('|')})"\\s*:\\s*(?:\\[\\s*)?\\{`)

/** What a piece of an answer says beside its text: where that comes from, and what else its upstream adds. */
export function asidesIn({ original }: Pick<Piece, 'original'>): readonly string[] {
  if (original === undefined) return nothing
  if (original.kind === 'document') return asidesOf(original.body)
  if (!original.frames.some(({ data }) => holdsOne.test(data))) return nothing
  return original.frames.flatMap(({ data }) => (holdsOne.test(data) ? asidesOf(JSON.parse(data)) : nothing))
}

const nothing: readonly string[] = []

function asidesOf(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(asidesOf)
  if (!isRecord(value)) return nothing
  return Object.entries(value).flatMap(([name, one]) => {
    if (!asides.has(name)) return asidesOf(one)
    const text = wordsIn({ messages: [one] }).join('\n')
    return /\S/.test(text) ? [text] : nothing
  })
}
