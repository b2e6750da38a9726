import type { AdmissionRequest, Renewal, LimitSettlement } from './admission.ts'
import type { ClusterMembership } from './cluster-membership.ts'
import type { LimitEngine } from './engine/engine.ts'
import type { Contribution, SharedLimitStore } from './store.ts'
import type { LimitUsage } from './usage.ts'

export type ContributionsParts = {
  readonly shared: Pick<SharedLimitStore, 'contribute' | 'attend'>
  /** All that this node admits, whichever store decides. */
  readonly own: LimitEngine
  /** Of that, what the shared store has not been told. */
  readonly untold: LimitEngine
  readonly nodeId: string
  readonly census: ClusterMembership
  readonly isReachable: () => boolean
}

/** Keeps the shared store informed of what this node has admitted without it, and notices when the store has lost it. */
export type Contributions = {
  /** Registers this node with the shared store and sends what it has not been told. The job calls it every second; never fails. */
  lookAfter(): Promise<void>
  /** Whether the shared store has everything that the nodes have admitted. Until then each admits no more than its share. */
  isWhole(): boolean
  /** Before the shared store decides for an organization, it has to have this. */
  isUntold(organization: string): boolean
  tell(organization: string): Promise<void>
  /** The shared store does not know this node's use of the organization: it gets all of it. */
  tellAll(organization: string): Promise<void>
  /** This node has admitted a request by itself. */
  note(request: AdmissionRequest, atMs: number): void
  /** Corrects a request that the shared store has not been told of. False: it has been. */
  settle(settlement: LimitSettlement): boolean
  leave(request: Renewal): boolean
  renew(renewals: readonly Renewal[]): readonly Renewal[]
}

/** So that a store which has just started is not asked everything at once. */
const atOnce = 32

type Outgoing = { readonly contribution: Contribution; readonly untold: LimitUsage | undefined }

export function createContributions(parts: ContributionsParts): Contributions {
  const { shared, own, untold, nodeId, census } = parts
  const outgoing = new Map<string, Outgoing>() // sent again as it was until the store has answered
  const sending = new Map<string, Promise<void>>()
  let number = 0
  let isWhole = false
  let attending: Promise<void> | undefined
  let queued: Promise<void> | undefined

  /** One at a time for each organization, or the same use would be contributed twice. */
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
    if (result === 'known' && next.untold !== undefined) untold.contribute(next.untold)
    if (untold.isCounting(organization)) return sendNow(organization, false)
  }

  function unanswered(organization: string, isAll: boolean): Outgoing | undefined {
    const last = outgoing.get(organization)
    if (last === undefined || last.contribution.isAll || !isAll) return last
    untold.contribute(last.contribution.use) // nobody knows whether the store has it: rather twice than never
    return undefined
  }

  function prepare(organization: string, isAll: boolean): Outgoing {
    const pending = untold.useOf(organization)
    untold.forget(organization)
    const nothing: LimitUsage = { organization, scopes: [], running: [] }
    const use = (isAll ? own.useOf(organization) : pending) ?? nothing
    return { contribution: { use, node: nodeId, number: ++number, isAll }, untold: isAll ? pending : undefined }
  }

  /** A node that is no longer on the list has to contribute everything again, as the list is lost with the rest. */
  const attend = (): Promise<void> => (attending ??= attendNow().finally(() => (attending = undefined)))

  /** Not the answer to a question that was asked before. */
  const attendFromNow = (): Promise<void> => {
    if (attending === undefined) return attend()
    const begin = (): Promise<void> => {
      queued = undefined
      return attend()
    }
    return (queued ??= attending.then(begin, begin))
  }

  async function attendNow(): Promise<void> {
    let nodes = await shared.attend(nodeId, false)
    if (!nodes.includes(nodeId)) {
      isWhole = false
      await inChunks(own.organizations(), (organization) => send(organization, true))
      nodes = await shared.attend(nodeId, true)
    }
    isWhole = nodes.filter((id) => census.isAlive(id)).length >= census.count()
  }

  const lookAfter = async (): Promise<void> => {
    if (!parts.isReachable()) return
    try {
      await attend()
      await inChunks(new Set([...outgoing.keys(), ...untold.organizations()]), (organization) =>
        send(organization, false),
      )
    } catch {
      // Out of reach: the next look tries again, and every admission tells of its own organization first.
    }
  }

  return {
    lookAfter,
    isWhole: () => isWhole,
    isUntold: (organization) => outgoing.has(organization) || untold.isCounting(organization),
    tell: (organization) => send(organization, false),
    async tellAll(organization) {
      await send(organization, true)
      // Only afterwards: what was lost before the contribution shows here, what is lost later in the next admission.
      await attendFromNow()
    },
    note: (request, atMs) => untold.note(request, atMs),
    settle: (settlement) => untold.isCounted(settlement) && untold.settle(settlement) === 'settled',
    leave(request) {
      const isUntold = untold.isCounted(request)
      if (isUntold) untold.leave(request)
      return isUntold
    },
    renew(renewals) {
      const [pending, told] = [
        renewals.filter((one) => untold.isCounted(one)),
        renewals.filter((one) => !untold.isCounted(one)),
      ]
      untold.renew(pending)
      return told
    },
  }
}

async function inChunks<T>(items: Iterable<T>, work: (item: T) => Promise<unknown>): Promise<void> {
  const all = [...items]
  for (let at = 0; at < all.length; at += atOnce) await Promise.all(all.slice(at, at + atOnce).map(work))
}
