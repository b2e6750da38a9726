import { isRecord } from '../../base/record.ts'
import type { FrameTemplate, RawFrame } from '../../domain/inference/events.ts'
import { frameObject, linesOf } from '../inference/writing/stream-writer.ts'

export type ChatPassthroughOptions = { readonly id: string; readonly model: string; readonly createdAtSeconds: number }

/** Passes an upstream's chunks through with the gateway's id and the caller's model name. Holds the ending back until the cost is known. */
export type ChatPassthrough = {
  frame(frame: RawFrame): string
  /** The upstream's own finish chunks and usage object, if the answer still ends that way. */
  ending(finish: string, isPassthrough: boolean): { readonly finish: string; readonly usage: Chunk | undefined }
}

type Chunk = Record<string, unknown>

export function createChatPassthrough(options: ChatPassthroughOptions): ChatPassthrough {
  const renaming = createRenaming(options)
  const finishChunks: Chunk[] = []
  let usage: Chunk | undefined
  let hasRole = false

  const passChunk = (chunk: Chunk): string => {
    if (isRecord(chunk['error'])) return '' // the provider throws it as a Fault
    const { usage: counted, ...rest } = chunk
    if (isRecord(counted)) usage = counted
    const kept = named(hasRole ? withoutRole(rest) : rest, options)
    hasRole ||= choicesOf(rest).length > 0
    if (choicesOf(kept).length === 0) return '' // the usage chunk is written later, with the cost
    if (!choicesOf(kept).some(hasFinish)) return `data: ${JSON.stringify(kept)}\n\n`
    finishChunks.push(kept)
    return ''
  }

  return {
    frame(frame) {
      const renamed = renaming.renameAlike(frame)
      if (renamed !== undefined) return renamed
      if (frame.data.startsWith('[DONE]')) return ''
      // Some servers repeat the role in every chunk, others in some chunks.
      const isQuick = hasRole && !frame.data.includes('"role"')
      return (isQuick ? renaming.rename(frame) : undefined) ?? passChunk(frameObject(frame.data))
    },
    ending(finish, isPassthrough) {
      const usesOwnFinish =
        finishChunks.length > 0 && (isPassthrough || finishChunks.some((chunk) => finishOf(chunk) === finish))
      const texts = finishChunks.map((chunk) => `data: ${JSON.stringify(withFinish(chunk, finish))}\n\n`)
      return { finish: usesOwnFinish ? texts.join('') : '', usage }
    },
  }
}

/**
 * Nearly all chunks of a stream begin with the same characters (id, object, created, model), so the new beginning is
 * computed once and the rest is passed through unparsed.
 */
type Renaming = {
  /** Undefined for a chunk that must be parsed. */
  rename(frame: RawFrame): string | undefined
  /** Hot path: a frame with the template of the last renamed one needs no further check. Undefined for any other. */
  renameAlike(frame: RawFrame): string | undefined
}

function createRenaming(options: ChatPassthroughOptions): Renaming {
  let known = ''
  let replacement = ''
  let checked: FrameTemplate | undefined
  const learn = (data: string): boolean => {
    // A string cannot contain an unescaped quote, so this is the key itself and not text of the model.
    const at = data.indexOf('"choices":')
    const changed = at === -1 ? undefined : renamedHead(data.slice(0, at), options)
    if (changed === undefined) return false
    known = data.slice(0, at)
    replacement = changed
    return true
  }
  const renamed = (data: string): string => `data: ${replacement}${linesOf(data.slice(known.length))}\n\n`
  return {
    rename({ data, template }) {
      checked = undefined
      const isKnown = known !== '' && data.slice(0, known.length) === known
      if (!isKnown && (finishOrUsage.test(data) || !learn(data))) return undefined
      // This beginning was checked when it was cached.
      if (isKnown && finishOrUsage.test(data.slice(known.length))) return undefined
      if (template !== undefined && template.before.length >= known.length) checked = template
      return renamed(data)
    },
    renameAlike: ({ data, template }) => (template !== undefined && template === checked ? renamed(data) : undefined),
  }
}

const finishOrUsage = /"finish_reason"\s*:\s*"|"usage"\s*:\s*\{|"choices"\s*:\s*\[\s*\]|"error"\s*:/

/** The upstream's fields with the gateway's id, the caller's model name, and the fields that clients require. */
function named(fields: Chunk, { id, model, createdAtSeconds }: ChatPassthroughOptions): Chunk {
  return { object: 'chat.completion.chunk', created: createdAtSeconds, ...fields, id, model }
}

function renamedHead(head: string, options: ChatPassthroughOptions): string | undefined {
  try {
    const fields = frameObject(`${head}"choices":[]}`)
    if (!('id' in fields && 'model' in fields)) return undefined
    delete fields['choices']
    return `${JSON.stringify(named(fields, options)).slice(0, -1)},`
  } catch {
    return undefined
  }
}

/** Removes a repeated role, because clients concatenate the deltas. */
function withoutRole(chunk: Chunk): Chunk {
  const choices = choicesOf(chunk).map((choice) => {
    if (!isRecord(choice) || !isRecord(choice['delta'])) return choice
    const { role: _role, ...delta } = choice['delta']
    return { ...choice, delta }
  })
  return { ...chunk, choices }
}

const choicesOf = (chunk: Chunk): unknown[] => (Array.isArray(chunk['choices']) ? chunk['choices'] : [])
const hasFinish = (choice: unknown): boolean => isRecord(choice) && typeof choice['finish_reason'] === 'string'

function finishOf(chunk: Chunk): unknown {
  const [choice] = choicesOf(chunk)
  return isRecord(choice) ? choice['finish_reason'] : undefined
}

/** Some upstreams report a plain stop after a tool call. That is corrected; other stop reasons are kept. */
function withFinish(chunk: Chunk, finish: string): Chunk {
  if (finish !== 'tool_calls') return chunk
  const choices = choicesOf(chunk).map((choice) => (isRecord(choice) ? { ...choice, finish_reason: finish } : choice))
  return { ...chunk, choices }
}
