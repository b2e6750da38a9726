import type { IncomingMessage, ServerResponse } from 'node:http'

/** Takes room for so many more bytes of a body; false where there is none. */
export type ReserveBodyMemory = (bytes: number, isStranger: boolean) => boolean

/** Undefined for a body that is not counted. */
export type BodyRoom = (request: IncomingMessage, response: ServerResponse) => ReserveBodyMemory | undefined

/** Smaller bodies are not worth counting. */
const largeBytes = 128 * 1024
/** Whoever asks without a key leaves the rest to those who have one. */
const unauthenticatedShare = 0.25

/**
 * Bounds what the bodies of large requests take of this process's memory, all of them together. Each counts by what it
 * has sent and not by what it announces, so that nobody keeps room by being slow, and until its answer is over.
 */
export function createBodyMemoryBudget(mostBytes: number): BodyRoom {
  let taken = 0
  return ({ headers }, response) => {
    const isSmall = headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) < largeBytes
    if (isSmall) return undefined
    let own = 0
    response.once('close', () => (taken -= own))
    return (bytes, isStranger) => {
      own += bytes
      taken += bytes
      // Behind some proxies every body comes without its length.
      return own < largeBytes || taken <= mostBytes * (isStranger ? unauthenticatedShare : 1)
    }
  }
}
