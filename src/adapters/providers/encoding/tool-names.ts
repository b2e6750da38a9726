import { createHash } from 'node:crypto'

/** Tool names in a form that every vendor accepts, and the mapping back to the caller's names. */
export type ToolNames = {
  toUpstream(name: string): string
  toCaller(name: string): string
}

/** The characters and length that every vendor accepts in tool names and call ids. */
const portable = /^[A-Za-z0-9_-]{1,64}$/

/** Names with other characters or more than 64 of them, such as `server.tool`, are replaced by a portable name. */
export function createToolNames(names: readonly string[]): ToolNames {
  if (names.length === 0) return noTools
  const callerNames = new Map<string, string>()
  for (const name of names) if (!portable.test(name)) callerNames.set(portableName(name), name)
  return { toUpstream, toCaller: (name) => callerNames.get(name) ?? name }
}

const toUpstream = (name: string): string => (portable.test(name) ? name : portableName(name))

const noTools: ToolNames = { toUpstream, toCaller: (name) => name }

/** Readable for the model, and unique because of the hash. */
const portableName = (name: string): string =>
  `${name.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 51)}_${shortHash(name).slice(0, 12)}`

/**
 * A tool call id that every vendor accepts. An id that does not fit is replaced by its hash. The hash is the same in the
 * response and in the next request, so a call and its result still match and no state is needed.
 */
export const safeToolCallId = (id: string): string => (portable.test(id) ? id : `call_${shortHash(id)}`)

/** An id for a tool call that the upstream sent without one. Deterministic for the same request and block. */
export const mintToolCallId = (requestId: string, block: number): string => `call_${shortHash(`${requestId}:${block}`)}`

export const shortHash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 24)
