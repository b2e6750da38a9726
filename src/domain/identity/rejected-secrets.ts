const maxDigests = 10_000

/**
 * Digests of secrets that were looked up without success, so that a repeated attempt needs no query. Such a secret never
 * becomes valid: new secrets are random, and a revocation is final. Expired secrets are not included, because the clock
 * that found them expired can be wrong.
 */
export type RejectedSecrets = { has(digest: string): boolean; add(digest: string): void }

export function createRejectedSecrets(): RejectedSecrets {
  const digests = new Set<string>()
  return {
    has: (digest) => digests.has(digest),
    add(digest) {
      digests.add(digest)
      if (digests.size > maxDigests) digests.delete(digests.values().next().value ?? '') // evicts the oldest
    },
  }
}
