import { hourMs } from '../../base/clock.ts'
import type { Encryption } from '../../base/encryption.ts'
import type { Random } from '../../base/random.ts'
import type { ContentTexts } from './event/content.ts'

/** The texts of a request that replays read. */
export type SampledTexts = Pick<ContentTexts, 'prompt' | 'response' | 'withheld'>

/** How the row of an event in the sample is written. */
export type SealedSample = {
  /** In hours since 1970. */
  readonly hour: number
  readonly position: number
  /** Most rows of the organization in an hour. */
  readonly perHour: number
  /** The encrypted texts in base64, because an event may wait on the disk of this node as JSON. */
  readonly sealed: string
}

/** The request whose texts are sampled. */
export type SampledRequest = {
  readonly organizationId: string
  readonly eventId: string
  readonly atMs: number
  /** From `draw`. */
  readonly position: number
}

export type ReplaySampler = {
  /** Draws the position of a request. Undefined: it cannot be in the sample, so its texts need not be collected. */
  draw(organizationId: string, atMs: number): number | undefined
  /** Undefined if requests that were sealed meanwhile fill the hour. */
  seal(request: SampledRequest, texts: () => SampledTexts): SealedSample | undefined
}

/** The encryption context: a text that is moved to another event cannot be decrypted. */
export const sampleContext = (organizationId: string, eventId: string): string => `${organizationId} ${eventId}`

const positions = 2 ** 48
/** The positions are cleared above this number of organizations. The database still limits the rows of an hour. */
const maxOrganizations = 1_000

type Hour = { readonly hour: number; readonly lowest: number[] }

/**
 * Samples the requests of each hour uniformly: each draws a random position, and those with the lowest ones stay. The database
 * holds all nodes to the limit. A node remembers only its own positions, so that it seals few texts that would not stay.
 */
export function createReplaySampler(parts: {
  readonly perHour: number
  readonly random: Pick<Random, 'fraction'>
  readonly encryption: Pick<Encryption, 'encrypt'>
}): ReplaySampler {
  const { perHour, random, encryption } = parts
  const hours = new Map<string, Hour>()

  const isAmong = (organizationId: string, hour: number, position: number): boolean => {
    const known = hours.get(organizationId)
    if (known?.hour !== hour || known.lowest.length < perHour) return true
    return position < (known.lowest.at(-1) ?? 0)
  }

  const remember = (organizationId: string, hour: number, position: number): void => {
    let known = hours.get(organizationId)
    if (known !== undefined && known.hour > hour) return // a request of the hour before
    if (known?.hour !== hour) {
      if (hours.size >= maxOrganizations) hours.clear()
      known = { hour, lowest: [] }
      hours.set(organizationId, known)
    }
    const { lowest } = known
    const next = lowest.findIndex((other) => other > position)
    lowest.splice(next === -1 ? lowest.length : next, 0, position)
    if (lowest.length > perHour) lowest.pop()
  }

  return {
    draw(organizationId, atMs) {
      const position = Math.floor(random.fraction() * positions)
      return isAmong(organizationId, hourOf(atMs), position) ? position : undefined
    },
    seal({ organizationId, eventId, atMs, position }, texts) {
      const hour = hourOf(atMs)
      if (!isAmong(organizationId, hour, position)) return undefined
      remember(organizationId, hour, position)
      const { prompt, response, withheld } = texts()
      const encrypted = encryption.encrypt(
        JSON.stringify({ prompt, response, withheld }),
        sampleContext(organizationId, eventId),
      )
      return { hour, position, perHour, sealed: Buffer.from(encrypted).toString('base64') }
    },
  }
}

export const hourOf = (atMs: number): number => Math.floor(atMs / hourMs)
