import { Fault } from '../../base/fault.ts'
import type { SignedCheckpoint } from './chain/checkpoint.ts'
import type { AuditReads } from './log.ts'

/** More would be a file that a browser cannot open. */
export const maxProofEvents = 20_000

/** What a proof of a period consists of, beside its events. */
export type ProofRange = {
  /** Sequences of the first and the last event. `last` is 0 if the period has no event. */
  readonly first: number
  readonly last: number
  /** The checkpoint of the last event; left out until it is signed. */
  readonly checkpoints: readonly SignedCheckpoint[]
  /** An auditor who holds one key of the installation needs them to trust the others. */
  readonly handovers: readonly SignedCheckpoint[]
}

type Period = { readonly fromMs?: number; readonly toMs?: number }

/**
 * The events of a period, and those after it up to the next checkpoint. The events of requests are among them: without the whole
 * chain nobody can verify that an event follows from the one before it.
 */
export async function findProofRange(events: AuditReads, organizationId: string, period: Period): Promise<ProofRange> {
  const edge = async (order: 'asc' | 'desc') => {
    const { items } = await events.list(organizationId, period, { limit: 1, order })
    return items[0]?.sequence
  }
  const [first = 1, newest = 0] = await Promise.all([edge('asc'), edge('desc')])
  const handovers = await events.handovers(organizationId)
  if (newest === 0) return { first, last: 0, checkpoints: [], handovers }
  const { checkpoint } = await events.chainContext(organizationId, newest)
  const last = checkpoint?.sequence ?? newest
  const count = last - first + 1
  if (count > maxProofEvents) throw tooManyEvents(count)
  return { first, last, checkpoints: checkpoint ? [checkpoint] : [], handovers }
}

const tooManyEvents = (count: number): Fault =>
  new Fault(
    'validation',
    'invalid_parameter',
    `The range has ${count} events, and a proof holds at most ${maxProofEvents}. Choose a shorter range, or run \`gatehouse audit export\` and \`gatehouse audit verify --file\`.`,
    { param: 'from' },
  )
