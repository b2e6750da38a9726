import type { IncomingMessage, ServerResponse } from 'node:http'

/** Reserves memory for this many more bytes of a body. False if the budget is exhausted. */
export type ReserveBodyMemory = (bytes: number, isAuthenticated: boolean) => boolean

/** Returns undefined for a body that is too small to be counted. */
export type BodyMemoryBudget = (request: IncomingMessage, response: ServerResponse) => ReserveBodyMemory | undefined

/** Bodies smaller than this are not counted. */
const largeBytes = 128 * 1024
/** Unauthenticated callers may use this share of the budget. The rest is reserved for authenticated ones. */
const unauthenticatedShare = 0.25

/**
 * Limits the memory that the bodies of all large requests take together. A body counts with the bytes received, not with
 * its announced length, so that a slow caller cannot reserve memory. It counts until its response has ended.
 */
export function createBodyMemoryBudget(budgetBytes: number): BodyMemoryBudget {
  let reserved = 0
  return ({ headers }, response) => {
    const isSmall = headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) < largeBytes
    if (isSmall) return undefined
    let own = 0
    response.once('close', () => (reserved -= own))
    return (bytes, isAuthenticated) => {
      own += bytes
      reserved += bytes
      // Some proxies send every body without its length, so small ones are recognised only here.
      return own < largeBytes || reserved <= budgetBytes * (isAuthenticated ? 1 : unauthenticatedShare)
    }
  }
}
