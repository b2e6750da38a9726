import { dayMs } from '../../base/clock.ts'
import { Fault } from '../../base/fault.ts'
import type { WithAuditRecord } from './audit-log.ts'

const keptMs = dayMs

/** What was answered once, to be answered again. */
export type StoredReply = {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
}

/** Whose key it is: two credentials that choose the same one do not meet. */
export type IdempotencyScope = {
  readonly organizationId: string
  readonly credentialId: string
  readonly key: string
}

/** A request that may be sent again. `fingerprint` is the same for the same request, and only then. */
export type RepeatableRequest = {
  readonly scope: IdempotencyScope
  readonly fingerprint: string
  readonly nowMs: number
}

export type IdempotencyStore = {
  /** Takes the key until the transaction ends; false where another transaction holds it. */
  claim(scope: IdempotencyScope): Promise<boolean>
  find(scope: IdempotencyScope, nowMs: number): Promise<{ fingerprint: string; reply: StoredReply } | undefined>
  /** Takes the place of one that has expired. */
  save(scope: IdempotencyScope, entry: { fingerprint: string; reply: StoredReply; expiresAtMs: number }): Promise<void>
}

/**
 * Does the work once for a key, inside the transaction of the work itself. Whatever throws leaves no trace, so that a
 * retry is safe. The look-up comes first: a retried success must not fail on the revision that it has itself raised.
 */
export async function doOnce(
  store: IdempotencyStore,
  { scope, fingerprint, nowMs }: RepeatableRequest,
  work: () => Promise<WithAuditRecord<StoredReply>>,
): Promise<WithAuditRecord<StoredReply>> {
  if (!(await store.claim(scope))) throw inProgress()
  const stored = await store.find(scope, nowMs)
  if (stored) return { value: replayed(stored, fingerprint) }
  const outcome = await work()
  await store.save(scope, { fingerprint, reply: outcome.value, expiresAtMs: nowMs + keptMs })
  return outcome
}

function replayed(stored: { fingerprint: string; reply: StoredReply }, fingerprint: string): StoredReply {
  if (stored.fingerprint !== fingerprint) {
    const message = 'This Idempotency-Key was used with another request in the last 24 hours.'
    throw new Fault('conflict', 'idempotency_key_reused', message, { param: 'Idempotency-Key' })
  }
  return { ...stored.reply, headers: { ...stored.reply.headers, 'idempotent-replayed': 'true' } }
}

const inProgress = (): Fault =>
  new Fault('conflict', 'idempotency_in_progress', 'A request with this Idempotency-Key is still running.', {
    param: 'Idempotency-Key',
    retryAfterSeconds: 1,
  })
