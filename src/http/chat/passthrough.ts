import { isRecord } from '../../base/record.ts'
import type { RawFrame } from '../../domain/inference/events.ts'
import { frameObject, linesOf } from '../inference/writing/stream-writer.ts'

export type ChatPassthroughOptions = { readonly id: string; readonly model: string; readonly createdAtSeconds: number }

/** Passes on an upstream's chunks under our id and the caller's name for the model, and keeps the ending back. */
export type ChatPassthrough = {
  frame(frame: RawFrame): string
  /** The upstream's own last words, where they are still how the answer ends: its finish chunks, its usage object. */
  ending(finish: string, isForwarded: boolean): { readonly finish: string; readonly usage: Chunk | undefined }
}

type Chunk = Record<string, unknown>

export function createChatPassthrough(options: ChatPassthroughOptions): ChatPassthrough {
  const renamed = createRenaming(options)
  const finishChunks: Chunk[] = []
  let usage: Chunk | undefined
  let hasRole = false

  const passOn = (chunk: Chunk): string => {
    if (isRecord(chunk['error'])) return '' // arrives as a thrown Fault
    const { usage: counted, ...rest } = chunk
    if (isRecord(counted)) usage = counted
    const kept = named(hasRole ? withoutRole(rest) : rest, options)
    hasRole ||= choicesOf(rest).length > 0
    if (choicesOf(kept).length === 0) return '' // the usage chunk: written with the price
    if (!choicesOf(kept).some(hasFinish)) return `data: ${JSON.stringify(kept)}\n\n`
    finishChunks.push(kept)
    return ''
  }

  return {
    frame(frame) {
      if (frame.data.startsWith('[DONE]')) return ''
      // Some servers say their role again and again, some of them only now and then.
      const isQuick = hasRole && !frame.data.includes('"role"')
      return (isQuick ? renamed(frame) : undefined) ?? passOn(frameObject(frame.data))
    },
    ending(finish, isForwarded) {
      const isItsOwn =
        finishChunks.length > 0 && (isForwarded || finishChunks.some((chunk) => finishOf(chunk) === finish))
      const texts = finishChunks.map((chunk) => `data: ${JSON.stringify(saying(chunk, finish))}\n\n`)
      return { finish: isItsOwn ? texts.join('') : '', usage }
    },
  }
}

/**
 * The quick way: nearly all chunks of a stream begin with the same characters (id, object, created, model), so the new
 * beginning is worked out once and the rest is passed on unread. Undefined for a chunk that has to be read.
 */
function createRenaming(options: ChatPassthroughOptions): (frame: RawFrame) => string | undefined {
  let known = ''
  let replacement = ''
  const learn = (data: string): boolean => {
    // An unescaped quote cannot stand inside of a string, so this is the key itself, and these are true values.
    const at = data.indexOf('"choices":')
    const changed = at === -1 ? undefined : renamedHead(data.slice(0, at), options)
    if (changed === undefined) return false
    known = data.slice(0, at)
    replacement = changed
    return true
  }
  return ({ data }) => {
    const isKnown = known !== '' && data.slice(0, known.length) === known
    if (!isKnown && (finishOrUsage.test(data) || !learn(data))) return undefined
    const rest = data.slice(known.length)
    // What is known was looked at when it was learned.
    return isKnown && finishOrUsage.test(rest) ? undefined : `data: ${replacement}${linesOf(rest)}\n\n`
  }
}

const finishOrUsage = /"finish_reason"\s*:\s*"|"usage"\s*:\s*\{|"choices"\s*:\s*\[\s*\]|"error"\s*:/

/** The upstream's fields under our id and the caller's name for the model; what clients expect besides is filled in. */
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

/** Clients join the pieces: a role that is said again would be said twice. */
function withoutRole(chunk: Chunk): Chunk {
  const choices = choicesOf(chunk).map((choice) => {
    if (!isRecord(choice) || !isRecord(choice['delta'])) return choice
    const { role: _said, ...delta } = choice['delta']
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

/** An upstream that called a tool and only says that it stopped is corrected; any other word is its own. */
function saying(chunk: Chunk, finish: string): Chunk {
  if (finish !== 'tool_calls') return chunk
  const choices = choicesOf(chunk).map((choice) => (isRecord(choice) ? { ...choice, finish_reason: finish } : choice))
  return { ...chunk, choices }
}
