import type { Clock } from '../../base/clock.ts'
import type { DeliveryOutcome } from '../../domain/audit/export/sink.ts'
import { Unreachable, type ReceivedResponse } from '../network/request.ts'
import { isRecord } from '../../base/record.ts'
import { delivered, jsonOf } from './response-mapping.ts'
import type { BatchResult } from './encoded-events.ts'

/** Queries the collector for the status of these acknowledgements. */
export type QueryAcks = (ids: readonly number[], signal: AbortSignal) => Promise<ReceivedResponse>

export type AckParts = {
  readonly queryAcks: QueryAcks
  readonly mapResponse: (response: ReceivedResponse) => BatchResult
  readonly clock: Clock
  readonly signal: AbortSignal
}

const unacknowledged = 'Splunk accepted the events, but no indexer has acknowledged them.'

/** Waits until all ids are acknowledged; each poll queries the missing ones with one call. */
export async function awaitAcks(
  ids: readonly number[],
  parts: AckParts,
): Promise<ReadonlyMap<number, DeliveryOutcome>> {
  const outcomes = new Map<number, DeliveryOutcome>(ids.map((id) => [id, { kind: 'retry', reason: unacknowledged }]))
  const waiting = new Set(ids)
  for (const delayMs of pollDelays()) {
    await waitFor(parts.clock, delayMs, parts.signal)
    const response = await pollAcks([...waiting], parts)
    for (const id of waiting) {
      if ('kind' in response) outcomes.set(id, response)
      else if (response.acks[id] === true) {
        outcomes.set(id, delivered)
        waiting.delete(id)
      }
    }
    if ('kind' in response || waiting.size === 0) break
  }
  return outcomes
}

type Acks = { readonly acks: Readonly<Record<string, unknown>> }

/** The acknowledgements so far, or why they are unknown. */
async function pollAcks(
  ids: readonly number[],
  { queryAcks, mapResponse, signal }: AckParts,
): Promise<Acks | DeliveryOutcome> {
  try {
    const response = await queryAcks(ids, signal)
    const result = mapResponse(response)
    if (result.kind === 'pause' || result.kind === 'retry') return result
    const { acks } = jsonOf(response)
    if (result.kind === 'delivered') return { acks: isRecord(acks) ? acks : {} }
    return { kind: 'retry', reason: `Splunk answered ${response.status} to the query for acknowledgements.` }
  } catch (error) {
    if (error instanceof Unreachable) return { kind: 'retry', reason: error.message, cause: error.cause }
    throw error
  }
}

/** Short delays at first, then every ten seconds, for five minutes in total. */
function* pollDelays(): Generator<number> {
  let waitedMs = 0
  for (let delayMs = 250; waitedMs < 300_000; delayMs = Math.min(delayMs * 2, 10_000)) {
    waitedMs += delayMs
    yield delayMs
  }
}

/** Resolves after `delayMs`; throws the signal's reason as soon as it aborts. */
async function waitFor(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  const { promise, resolve } = Promise.withResolvers<void>()
  const wake = (): void => resolve()
  const cancel = clock.after(delayMs, wake)
  signal.addEventListener('abort', wake, { once: true })
  await promise
  cancel()
  signal.removeEventListener('abort', wake)
  signal.throwIfAborted()
}
