/**
 * Tells when something of an organization changed, on this node or another. What is remembered about an
 * organization carries the count at which it was read, and is forgotten once a later change was announced.
 */
export type Changes = {
  /** Changes announced so far. Taken before reading: a change during the read then makes the memory stale, never wrong. */
  count(): number
  /** The count at this organization's latest change. */
  latestOf(organizationId: string): number
  announce(organizationId: string): void
}

export function createChanges(): Changes {
  const latest = new Map<string, number>()
  let count = 0
  return {
    count: () => count,
    latestOf: (organizationId) => latest.get(organizationId) ?? 0,
    announce: (organizationId) => void latest.set(organizationId, ++count),
  }
}

/**
 * Runs a change of one organization as one transaction: all that `work` does through its stores happens, or nothing.
 * Announced once durable, so it holds here at once and on other nodes within a second.
 */
export type ChangeOrganization<Stores> = <T>(organizationId: string, work: (stores: Stores) => Promise<T>) => Promise<T>
