import { isRecord } from '../../../base/record.ts'
import type { Piece } from '../../inference/events.ts'
import { wordsIn } from './strings.ts'

/** Fields of an answer that reach a caller of the upstream's dialect although no event of ours tells of them. */
const names = ['citation', 'citations', 'annotation', 'annotations', 'reasoning_details', 'function_call', 'audio']
const asides = new Set(names)
/** Rules out nearly every frame without parsing it; most that have such a field have an empty one. */
const holdsOne = new RegExp(`"(?:${names.join('|')})"\\s*:\\s*(?:\\[\\s*)?\\{|"response\\.[a-z_]+\\.added"`)

/**
 * What a piece of an answer says beside its text: where that comes from, and what else its upstream adds. What only repeats
 * a piece of the text, as the details of a thought do, is judged with the text.
 */
export function asidesIn({ original, events = [] }: Partial<Piece>): readonly string[] {
  const texts = textsBeside(original)
  if (texts.length === 0) return nothing
  const told = new Set(events.map((event) => (event.type === 'delta' ? event.text : '')))
  return texts.filter((text) => !told.has(text))
}

function textsBeside(original: Piece['original']): readonly string[] {
  if (original === undefined) return nothing
  if (original.kind === 'document') return asidesOf(original.body)
  if (original.areFamiliar || !original.frames.some(({ data }) => holdsOne.test(data))) return nothing
  return original.frames.flatMap(({ data }) => (holdsOne.test(data) ? asidesOfFrame(JSON.parse(data)) : nothing))
}

const nothing: readonly string[] = []

/** Items begin empty. One that does not is told of when it is complete, and would be shown before. */
function asidesOfFrame(frame: unknown): readonly string[] {
  const isBeginning = isRecord(frame) && String(frame['type']).endsWith('.added')
  return isBeginning ? textsOf(frame['item'] ?? frame['part'] ?? frame['annotation']) : asidesOf(frame)
}

function textsOf(value: unknown): readonly string[] {
  const text = wordsIn({ messages: [value] }).join('\n')
  return /\S/.test(text) ? [text] : nothing
}

function asidesOf(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(asidesOf)
  if (!isRecord(value)) return nothing
  return Object.entries(value).flatMap(([name, one]) => (asides.has(name) ? textsOf(one) : asidesOf(one)))
}
