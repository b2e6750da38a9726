import type { Clock } from '../../base/clock.ts'
import type { DeliveryOutcome } from '../../domain/audit/export/sink.ts'
import { Unreachable, type ReceivedResponse } from '../network/request.ts'
import { isRecord } from '../../base/record.ts'
import { delivered, jsonOf } from './response-mapping.ts'
import type { BatchResult } from './encoded-events.ts'
import { waitFor } from './wait.ts'

/** Asks the collector which of these it has acknowledged. */
export type AskForAcks = (ids: readonly number[], signal: AbortSignal) => Promise<ReceivedResponse>

export type AckParts = {
  readonly ask: AskForAcks
  readonly judge: (answer: ReceivedResponse) => BatchResult
  readonly clock: Clock
  readonly signal: AbortSignal
}

const unacknowledged = 'Splunk accepted the events, but no indexer has acknowledged them.'

/** Waits until all of these are acknowledged, asking for those that are not with one call. */
export async function awaitAcks(
  ids: readonly number[],
  parts: AckParts,
): Promise<ReadonlyMap<number, DeliveryOutcome>> {
  const outcomes = new Map<number, DeliveryOutcome>(ids.map((id) => [id, { kind: 'retry', reason: unacknowledged }]))
  const waiting = new Set(ids)
  for (const delayMs of pollDelays()) {
    await waitFor(parts.clock, delayMs, parts.signal)
    const answer = await asked([...waiting], parts)
    for (const id of waiting) {
      if ('kind' in answer) outcomes.set(id, answer)
      else if (answer.acks[id] === true) {
        outcomes.set(id, delivered)
        waiting.delete(id)
      }
    }
    if ('kind' in answer || waiting.size === 0) break
  }
  return outcomes
}

type Acks = { readonly acks: Readonly<Record<string, unknown>> }

/** What is acknowledged by now, or why nobody can say. */
async function asked(ids: readonly number[], { ask, judge, signal }: AckParts): Promise<Acks | DeliveryOutcome> {
  try {
    const answer = await ask(ids, signal)
    const verdict = judge(answer)
    if (verdict.kind === 'pause' || verdict.kind === 'retry') return verdict
    const { acks } = jsonOf(answer)
    if (verdict.kind === 'delivered') return { acks: isRecord(acks) ? acks : {} }
    return { kind: 'retry', reason: `Splunk answered ${answer.status} when it was asked for acknowledgements.` }
  } catch (error) {
    if (error instanceof Unreachable) return { kind: 'retry', reason: error.message, cause: error.cause }
    throw error
  }
}

/** Soon at first, then every ten seconds, for five minutes in all. */
function* pollDelays(): Generator<number> {
  let waitedMs = 0
  for (let delayMs = 250; waitedMs < 300_000; delayMs = Math.min(delayMs * 2, 10_000)) {
    waitedMs += delayMs
    yield delayMs
  }
}
