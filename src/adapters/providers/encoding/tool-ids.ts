import { createHash } from 'node:crypto'

const safe = /^[A-Za-z0-9_-]{1,64}$/

/**
 * An id of a tool call that every vendor accepts. One that does not fit is replaced by its hash: the same on the way
 * out and on the way back, so a call and its result still belong together and nothing has to be remembered.
 */
export const safeToolCallId = (id: string): string => (safe.test(id) ? id : `call_${shortHash(id)}`)

/** For a call that came without an id: the same answer always gets the same ids. */
export const mintToolCallId = (requestId: string, block: number): string => `call_${shortHash(`${requestId}:${block}`)}`

export const shortHash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 24)
