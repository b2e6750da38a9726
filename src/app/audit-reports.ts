import type { CheckpointParts } from '../adapters/stores/sql/audit/checkpoints.ts'
import type { Infrastructure } from './infrastructure.ts'

/** Undefined with embedded storage, where nothing locks the head of a chain. */
export function createLockHistogram({ database, metrics }: Infrastructure): ((waitMs: number) => void) | undefined {
  if (database.engine === 'sqlite') return undefined
  const histogram = metrics.histogram(
    'gatehouse_audit_lock_wait_seconds',
    'The time that an append to an audit log waited for a connection and for the appends of other nodes.',
    { labels: {}, buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5] },
  )
  const observe = histogram.series({})
  return (waitMs) => observe(waitMs / 1000)
}

export function reportRewritten({ log, metrics }: Infrastructure): CheckpointParts['onRewritten'] {
  const rewritten = metrics.counter(
    'gatehouse_audit_rewritten_total',
    'Attempts to sign an audit log that no longer contains the events that this process signed.',
    {},
  )
  return (organization, { sequence }) => {
    rewritten.add({})
    log.error(
      { organization, sequence },
      'the audit log no longer has the checkpoint that this node signed: it was rewritten or restored, and is not signed. If you restored it, remove the folder checkpoints of the data folder and restart',
    )
  }
}

export function reportLate({ log, metrics }: Infrastructure): CheckpointParts['onLate'] {
  const late = metrics.counter(
    'gatehouse_audit_signed_late_total',
    'Checkpoints over events that were not signed in time, because no service ran or checkpoints were removed.',
    {},
  )
  return (organization, range) => {
    late.add({})
    log.error(
      { organization, ...range },
      'events of the audit log were signed late: nothing proves what happened to them before',
    )
  }
}
