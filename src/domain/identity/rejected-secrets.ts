const most = 10_000

/**
 * Digests of secrets that were looked up in vain. No secret becomes valid later: new ones are made at random, and what was
 * revoked stays so. (What has expired may not have: a clock can be wrong.) Whoever tries one again and again need not
 * bother the database.
 */
export type RejectedSecrets = { has(digest: string): boolean; add(digest: string): void }

export function createRejectedSecrets(): RejectedSecrets {
  const digests = new Set<string>()
  return {
    has: (digest) => digests.has(digest),
    add(digest) {
      digests.add(digest)
      if (digests.size > most) digests.delete(digests.values().next().value ?? '') // the oldest goes first
    },
  }
}
