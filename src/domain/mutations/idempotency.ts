import { dayMs } from '../../base/clock.ts'
import { Fault } from '../../base/fault.ts'
import type { WithAuditRecord } from './audit-log.ts'

const keptMs = dayMs

/** Idempotency keys are per credential: two credentials may use the same key. */
export type IdempotencyScope = {
  readonly organizationId: string
  readonly credentialId: string
  readonly key: string
}

/** A request that may be retried. `fingerprint` is equal only for equal requests. */
export type RepeatableRequest = {
  readonly scope: IdempotencyScope
  readonly fingerprint: string
  readonly nowMs: number
}

export type IdempotencyStore = {
  /** Locks the key until the transaction ends. Returns false if another transaction holds it. */
  claim(scope: IdempotencyScope): Promise<boolean>
  find(scope: IdempotencyScope, nowMs: number): Promise<StoredReply | undefined>
  /** Replaces an expired entry. */
  save(scope: IdempotencyScope, entry: StoredReply & { readonly expiresAtMs: number }): Promise<void>
}

/** A reply stored for retries, as JSON that only the caller of `doOnce` interprets. */
export type StoredReply = { readonly fingerprint: string; readonly reply: unknown }

/** The reply to a request, and whether an earlier request with the same key produced it. */
export type RepeatableReply<Reply> = { readonly reply: Reply; readonly isReplayed: boolean }

/**
 * Does the work once per key, in the transaction of the work. An error rolls everything back, so that a retry is safe.
 * The stored reply is looked up first, because a retry of a success must not fail on the revision that it incremented.
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
    // The type holds because the fingerprint covers the endpoint.
    return { value: { reply: stored.reply as Reply, isReplayed: true } }
  }
  const { value: reply, ...audit } = await work()
  await store.save(scope, { fingerprint, reply, expiresAtMs: nowMs + keptMs })
  return { ...audit, value: { reply, isReplayed: false } }
}

/** The result is undefined if a request with the same key succeeded before. Dispose it after the transaction of the request. */
type Preparation<T> = Disposable & { readonly result: T | undefined }

/**
 * Does the work of a request that its transaction does not cover, such as a call of another service, unless a request with the
 * same key succeeded before. Throws while another request with the key runs in this process.
 */
type PrepareOnce = <T>(
  store: IdempotencyStore,
  request: RepeatableRequest | undefined,
  work: () => Promise<T>,
) => Promise<Preparation<T>>

export function createPrepareOnce(): PrepareOnce {
  const running = new Set<string>()
  return async (store, request, work) => {
    if (request === undefined) return { result: await work(), [Symbol.dispose]() {} }
    const { scope, nowMs } = request
    const key = JSON.stringify([scope.organizationId, scope.credentialId, scope.key])
    if (running.has(key)) throw inProgress()
    running.add(key)
    using onError = new DisposableStack()
    onError.defer(() => running.delete(key))
    const result = (await store.find(scope, nowMs)) === undefined ? await work() : undefined
    const held = onError.move()
    return { result, [Symbol.dispose]: () => held.dispose() }
  }
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
