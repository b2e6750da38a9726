import { hash } from 'node:crypto'

/** Who sent a request: a key, and the user that the request names. Any holder of a key can invent users. */
export type DecisionCaller = { readonly keyId: string; readonly user: string }

/** A caller of one version, as it is stored for all nodes. */
export type CallerMinutes = {
  readonly keyId: string
  /** Empty if the request names no user. */
  readonly userDigest: string
  /** The last minute with a request. */
  readonly activeMinute: number
  /** The last minute with a denial; 0 if there was none. */
  readonly deniedMinute: number
  /** The same for requests on the other side of a rollout, where matches are only recorded. */
  readonly observedMinute: number
  readonly matchedMinute: number
}

/**
 * Bounds on what one node counts per version. Callers beyond them are not counted while others are active, so a key that
 * sends a new user name with each request needs no more memory than one with a few users.
 */
export const maxKeys = 64
export const maxCallersPerKey = 16

type Counted = {
  activeMinute: number
  deniedMinute: number
  observedMinute: number
  matchedMinute: number
  isUnwritten: boolean
}

/** A decision on a request: whether it is to deny, and whether that takes effect. */
export type CountedDecision = { readonly isDenial: boolean; readonly isEnforced: boolean }

/** The callers of one version on this node. */
export type ActiveCallers = {
  count(caller: DigestedCaller, minute: number, decision: CountedDecision): void
  /** Returns the callers whose minutes are not written yet, and marks them as written. */
  takeUnwritten(): readonly CallerMinutes[]
  /** Marks callers as unwritten again. */
  putBack(callers: readonly CallerMinutes[]): void
  isEmpty(): boolean
  /** Evicts callers that were last active before this minute and are written. */
  evictBefore(minute: number): void
}

export type DigestedCaller = { readonly keyId: string; readonly userDigest: string }

/** The digest has a fixed length, whatever name the caller sends. */
export const digestedCaller = ({ keyId, user }: DecisionCaller): DigestedCaller => ({
  keyId,
  userDigest: user === '' ? '' : hash('sha256', user, 'base64url').slice(0, 22),
})

const noMinutes = { activeMinute: 0, deniedMinute: 0, observedMinute: 0, matchedMinute: 0 }
const minuteNames = ['activeMinute', 'deniedMinute', 'observedMinute', 'matchedMinute'] as const
const enforcedMinutes = ['activeMinute', 'deniedMinute'] as const
const observedMinutes = ['observedMinute', 'matchedMinute'] as const

export function createActiveCallers(): ActiveCallers {
  const keys = new Map<string, Map<string, Counted>>()

  function countedOf({ keyId, userDigest }: DigestedCaller): Counted | undefined {
    const users = keys.get(keyId) ?? (keys.size < maxKeys ? new Map<string, Counted>() : undefined)
    const known = users?.get(userDigest)
    if (users === undefined || known !== undefined || users.size >= maxCallersPerKey) return known
    const counted = { ...noMinutes, isUnwritten: false }
    keys.set(keyId, users.set(userDigest, counted))
    return counted
  }

  return {
    count(caller, minute, { isDenial, isEnforced }) {
      const counted = countedOf(caller)
      if (counted === undefined) return
      const [seen, matched] = isEnforced ? enforcedMinutes : observedMinutes
      if (counted[seen] < minute || (isDenial && counted[matched] < minute)) counted.isUnwritten = true
      counted[seen] = Math.max(counted[seen], minute)
      if (isDenial) counted[matched] = Math.max(counted[matched], minute)
    },
    takeUnwritten() {
      const taken: CallerMinutes[] = []
      for (const [keyId, users] of keys) {
        for (const [userDigest, counted] of users) {
          if (!counted.isUnwritten) continue
          counted.isUnwritten = false
          const { isUnwritten: _, ...minutes } = counted
          taken.push({ keyId, userDigest, ...minutes })
        }
      }
      return taken
    },
    putBack(callers) {
      for (const { keyId, userDigest, ...minutes } of callers) {
        const counted = countedOf({ keyId, userDigest })
        if (counted === undefined) continue
        for (const name of minuteNames) counted[name] = Math.max(counted[name], minutes[name])
        counted.isUnwritten = true
      }
    },
    isEmpty: () => keys.size === 0,
    evictBefore(minute) {
      for (const [keyId, users] of keys) {
        for (const [userDigest, { activeMinute, observedMinute, isUnwritten }] of users)
          if (Math.max(activeMinute, observedMinute) < minute && !isUnwritten) users.delete(userDigest)
        if (users.size === 0) keys.delete(keyId)
      }
    },
  }
}
