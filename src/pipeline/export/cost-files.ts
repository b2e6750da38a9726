import { minuteMs, type Clock } from '../../base/clock.ts'
import type { Random } from '../../base/random.ts'
import type { CostFileStore } from '../../domain/audit/export/cost-file-store.ts'
import { freshStart } from '../../domain/audit/export/cursor.ts'
import { afterFailure, pauseEvent, recoveredEvents, type DeliveryResult } from '../../domain/audit/export/delivery.ts'
import type { ClaimedSink, DeliveryStore } from '../../domain/audit/export/delivery-store.ts'
import type { DeliveryOutcome, OpenedSink } from '../../domain/audit/export/sink.ts'
import { digestOfCosts, finishedDays, type CostDays } from '../../domain/costs/cost-days.ts'
import { focusFileName } from '../../domain/costs/focus.ts'
import { gatewayError } from './deliver.ts'
import { holdLease } from './lease.ts'

export type CostFileParts = {
  readonly store: Pick<DeliveryStore, 'claim' | 'renew' | 'release' | 'settle'>
  readonly files: CostFileStore
  readonly costs: CostDays
  /** Opens a sink with its configuration, for one delivery. */
  readonly open: (claimed: ClaimedSink) => OpenedSink & AsyncDisposable
  readonly creditUsd: number
  readonly clock: Clock
  readonly random: Random
  readonly leaseMs: number
  readonly onOutcome: (outcome: DeliveryOutcome, claimed: ClaimedSink) => void
  /** An error of the gateway itself. It counts as a failed attempt. */
  readonly onError: (error: unknown, sinkId: string) => void
}

export type CostFileWriter = AsyncDisposable & {
  /** Writes the files of all sinks that are due, one after the other. */
  writeDue(): Promise<void>
}

/** Sinks of one run. The next run takes further ones. */
const maxAtOnce = 32
/** How often the days of a sink are compared with its files. */
const checkMs = 5 * minuteMs

/**
 * Writes the files of costs to the sinks that send them: each finished day that has no file yet, and each whose sums have changed since. A
 * lease gives each sink to one node. Disposing ends a delivery that runs.
 */
export function createCostFileWriter(parts: CostFileParts): CostFileWriter {
  const { store, files, clock, random, onError } = parts
  const stop = new AbortController()
  let running: Promise<void> = Promise.resolve()

  async function writeAll(): Promise<void> {
    for (const id of await files.due(maxAtOnce)) {
      if (stop.signal.aborted) return
      await writeSink(id).catch((error: unknown) => {
        if (!stop.signal.aborted) onError(error, id)
      })
    }
  }

  async function writeSink(sinkId: string): Promise<void> {
    const claimed = await store.claim(sinkId)
    if (!claimed) return
    await using lease = holdLease(parts, sinkId, stop.signal)
    const progress: Progress = { written: 0 }
    const outcome = await writeDays(parts, { claimed, progress, signal: lease.signal }).catch((error: unknown) => {
      if (lease.signal.aborted) throw error
      onError(error, sinkId)
      return gatewayError
    })
    if (outcome === undefined) return // another node has the sink, or it was changed
    const moment = { nowMs: clock.nowMs(), random }
    await store.settle(claimed, resultOf(claimed, { outcome, hasWritten: progress.written > 0 }, moment))
  }

  return {
    writeDue() {
      running = writeAll()
      return running
    },
    async [Symbol.asyncDispose]() {
      stop.abort(new Error('the service is stopping'))
      await running.catch(() => undefined)
    },
  }
}

/** How many files were written before an error. */
type Progress = { written: number }

type Writing = { readonly claimed: ClaimedSink; readonly progress: Progress; readonly signal: AbortSignal }

/** Writes days in the order of time, up to the first that fails. Undefined if the lease is lost. */
async function writeDays(
  { files, costs, open, creditUsd, clock, onOutcome }: CostFileParts,
  { claimed, progress, signal }: Writing,
): Promise<DeliveryOutcome | undefined> {
  const { id, organizationId } = claimed
  const totals = await costs.totals(organizationId, finishedDays(clock.nowMs()))
  const digests = await files.digests(id)
  const changed = [...totals].filter(([day, sums]) => digests.get(day) !== digestOfCosts(sums, creditUsd))
  if (changed.length === 0) return written
  await using sink = open(claimed)
  for (const [day] of changed) {
    signal.throwIfAborted()
    const { body, rowCount, hasTags, totals: sums } = await costs.file(organizationId, day)
    const file = { name: focusFileName(organizationId, day), body }
    const outcome = (await sink.writeFile?.(file, signal)) ?? noFiles
    onOutcome(outcome, claimed)
    if (outcome.kind !== 'delivered') return outcome
    // The sums in the file, because a charge may have been added since the days were compared.
    const digest = digestOfCosts(sums, creditUsd)
    if (!(await files.record(claimed, { day, digest, rowCount, hasTags }))) return undefined
    progress.written += 1
  }
  return written
}

const written: DeliveryOutcome = { kind: 'delivered' }
const noFiles: DeliveryOutcome = {
  kind: 'pause',
  state: 'config_error',
  reason: 'This kind of sink cannot send costs.',
}

type Attempt = { readonly outcome: DeliveryOutcome; readonly hasWritten: boolean }
type Moment = { readonly nowMs: number; readonly random: Random }

/** The state of the sink after its days were written, or one of them failed. */
function resultOf({ cursor }: ClaimedSink, { outcome, hasWritten }: Attempt, moment: Moment): DeliveryResult {
  const { nowMs } = moment
  const next = {
    ...cursor,
    nextAttemptAtMs: nowMs + checkMs,
    attempt: hasWritten ? 0 : cursor.attempt,
    lastSuccessAtMs: hasWritten ? nowMs : cursor.lastSuccessAtMs,
  }
  if (outcome.kind === 'delivered') {
    const { nextAttemptAtMs } = next
    return { cursor: { ...next, ...freshStart, nextAttemptAtMs }, rejected: [], sinkEvents: recoveredEvents(cursor) }
  }
  const failed = afterFailure(next, outcome, moment)
  return { cursor: failed, rejected: [], sinkEvents: pauseEvent(cursor, failed) }
}
