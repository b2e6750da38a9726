import type { AdmissionRequest, Renewal, LimitSettlement } from './admission.ts'
import type { ClusterMembership } from './cluster-membership.ts'
import type { LimitEngine } from './engine/engine.ts'
import type { Contribution, SharedLimitStore } from './store.ts'
import type { LimitUsage } from './usage.ts'

export type ContributionsParts = {
  readonly shared: Pick<SharedLimitStore, 'contribute' | 'register'>
  /** Counts all that this node admits, whichever store decides. */
  readonly own: LimitEngine
  /** Counts the part of it that the shared store has not received. */
  readonly unsent: LimitEngine
  readonly nodeId: string
  readonly membership: ClusterMembership
  readonly isReachable: () => boolean
}

/** Sends the shared store what this node has admitted without it, and detects when the store has lost its state. */
export type Contributions = {
  /** Registers this node with the shared store and sends the usage that the store has not received. The job calls it every second; never fails. */
  sync(): Promise<void>
  /** True if the shared store has the usage of all nodes. Until then each node admits no more than its share. */
  isWhole(): boolean
  /** True if the organization has usage that must be sent before the shared store decides for it. */
  hasUnsent(organization: string): boolean
  send(organization: string): Promise<void>
  /** Sends all usage of the organization, for a shared store that lost it. */
  sendAll(organization: string): Promise<void>
  /** Adds a request that this node has admitted without the shared store. */
  add(request: AdmissionRequest, atMs: number): void
  /** Settles a request that has not been sent yet. False: it has been sent, so the shared store must settle it. */
  settle(settlement: LimitSettlement): boolean
  leave(request: Renewal): boolean
  renew(renewals: readonly Renewal[]): readonly Renewal[]
}

/** Bounds the load on a store that has just started. */
const batchSize = 32

type Outgoing = { readonly contribution: Contribution; readonly unsentUsage: LimitUsage | undefined }

export function createContributions(parts: ContributionsParts): Contributions {
  const { shared, own, unsent, nodeId, membership } = parts
  const outgoing = new Map<string, Outgoing>() // resent unchanged until the store has replied
  const sending = new Map<string, Promise<void>>()
  let number = 0
  let isWhole = false
  let registering: Promise<void> | undefined
  let queued: Promise<void> | undefined

  /** One at a time for each organization; otherwise the same usage would be contributed twice. */
  const send = (organization: string, isAll: boolean): Promise<void> => {
    const earlier = sending.get(organization)
    if (earlier !== undefined) return earlier
    const sent = sendNow(organization, isAll).finally(() => sending.delete(organization))
    sending.set(organization, sent)
    return sent
  }

  async function sendNow(organization: string, isAll: boolean): Promise<void> {
    const next = unanswered(organization, isAll) ?? prepare(organization, isAll)
    outgoing.set(organization, next)
    const result = await shared.contribute(next.contribution)
    outgoing.delete(organization)
    if (result === 'forgotten') return sendNow(organization, true)
    if (result === 'known' && next.unsentUsage !== undefined) unsent.contribute(next.unsentUsage)
    if (unsent.isCounting(organization)) return sendNow(organization, false)
  }

  function unanswered(organization: string, isAll: boolean): Outgoing | undefined {
    const last = outgoing.get(organization)
    if (last === undefined || last.contribution.isAll || !isAll) return last
    unsent.contribute(last.contribution.use) // it is unknown whether the store has it: rather twice than never
    return undefined
  }

  function prepare(organization: string, isAll: boolean): Outgoing {
    const pending = unsent.usageOf(organization)
    unsent.remove(organization)
    const nothing: LimitUsage = { organization, scopes: [], running: [] }
    const use = (isAll ? own.usageOf(organization) : pending) ?? nothing
    return { contribution: { use, node: nodeId, number: ++number, isAll }, unsentUsage: isAll ? pending : undefined }
  }

  /** A node that is no longer on the list must contribute everything again, because the list is lost with the other state. */
  const register = (): Promise<void> => (registering ??= registerNow().finally(() => (registering = undefined)))

  /** Registers after this call: a registration already in progress may have read an older list. */
  const registerAgain = (): Promise<void> => {
    if (registering === undefined) return register()
    const begin = (): Promise<void> => {
      queued = undefined
      return register()
    }
    return (queued ??= registering.then(begin, begin))
  }

  async function registerNow(): Promise<void> {
    let nodes = await shared.register(nodeId, false)
    if (!nodes.includes(nodeId)) {
      isWhole = false
      await inChunks(own.organizations(), (organization) => send(organization, true))
      nodes = await shared.register(nodeId, true)
    }
    isWhole = nodes.filter((id) => membership.isAlive(id)).length >= membership.count()
  }

  const lookAfter = async (): Promise<void> => {
    if (!parts.isReachable()) return
    try {
      await register()
      await inChunks(new Set([...outgoing.keys(), ...unsent.organizations()]), (organization) =>
        send(organization, false),
      )
    } catch {
      // Unreachable: the next run tries again, and every admission first sends the usage of its own organization.
    }
  }

  return {
    sync: lookAfter,
    isWhole: () => isWhole,
    hasUnsent: (organization) => outgoing.has(organization) || unsent.isCounting(organization),
    send: (organization) => send(organization, false),
    async sendAll(organization) {
      await send(organization, true)
      // After the contribution: a loss before it shows here, a later loss in the next admission.
      await registerAgain()
    },
    add: (request, atMs) => unsent.countAdmitted(request, atMs),
    settle: (settlement) => unsent.isCounted(settlement) && unsent.settle(settlement) === 'settled',
    leave(request) {
      const isUnsent = unsent.isCounted(request)
      if (isUnsent) unsent.leave(request)
      return isUnsent
    },
    renew(renewals) {
      const [pending, sent] = [
        renewals.filter((one) => unsent.isCounted(one)),
        renewals.filter((one) => !unsent.isCounted(one)),
      ]
      unsent.renew(pending)
      return sent
    },
  }
}

async function inChunks<T>(items: Iterable<T>, work: (item: T) => Promise<unknown>): Promise<void> {
  const all = [...items]
  for (let at = 0; at < all.length; at += batchSize) await Promise.all(all.slice(at, at + batchSize).map(work))
}
