import { dayMs } from '../../base/clock.ts'
import { Fault } from '../../base/fault.ts'
import type { WithAuditRecord } from './audit-log.ts'

const keptMs = dayMs

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
  find(scope: IdempotencyScope, nowMs: number): Promise<StoredReply | undefined>
  /** Takes the place of one that has expired. */
  save(scope: IdempotencyScope, entry: StoredReply & { readonly expiresAtMs: number }): Promise<void>
}

/** A reply that is kept for retries: JSON that only the caller of `doOnce` reads. */
export type StoredReply = { readonly fingerprint: string; readonly reply: unknown }

/** The reply to a request, and whether an earlier request with the same key produced it. */
export type RepeatableReply<Reply> = { readonly reply: Reply; readonly isReplayed: boolean }

/**
 * Does the work once for a key, inside the transaction of the work itself. Whatever throws leaves no trace, so that a
 * retry is safe. The look-up comes first: a retried success must not fail on the revision that it has itself raised.
 */
export async function doOnce<Reply>(
  store: IdempotencyStore,
  { scope, fingerprint, nowMs }: RepeatableRequest,
  work: () => Promise<WithAuditRecord<Reply>>,
): Promise<WithAuditRecord<RepeatableReply<Reply>>> {
  if (!(await store.claim(scope))) throw inProgress()
  const stored = await store.find(scope, nowMs)
  if (stored) {
    if (stored.fingerprint !== fingerprint) throw keyReused()
    // The same caller stored it, for the same request: the fingerprint covers the endpoint.
    return { value: { reply: stored.reply as Reply, isReplayed: true } }
  }
  const { value: reply, ...audit } = await work()
  await store.save(scope, { fingerprint, reply, expiresAtMs: nowMs + keptMs })
  return { ...audit, value: { reply, isReplayed: false } }
}

const keyReused = (): Fault =>
  new Fault(
    'conflict',
    'idempotency_key_reused',
    'This idempotency key was used with another request in the last 24 hours.',
    { option: 'idempotency_key' },
  )

const inProgress = (): Fault =>
  new Fault('conflict', 'idempotency_in_progress', 'A request with this idempotency key is still running.', {
    option: 'idempotency_key',
    retryAfterSeconds: 1,
  })
