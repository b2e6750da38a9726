import { randomUUID } from 'node:crypto'
import { ApiError, type ApiClient } from '../../app/client/api-client.ts'
import type { Clock } from '../../base/clock.ts'

const path = '/v1/organization/apply_lease'

/** A killed run leaves its lease until it expires. The next run waits for longer than that. */
const leaseSeconds = 30
const waitMs = 60_000
const pollMs = 250

/** The right of this run to change the organization. Disposing of it releases the lease. */
export type HeldLease = AsyncDisposable & {
  /** Call before each change. Throws if the lease has expired and another run has it. */
  extend(): Promise<void>
}

type LeaseParts = { readonly client: ApiClient; readonly clock: Clock; readonly onWait: () => void }

/** Waits while another run has the lease, at most for a minute. */
export async function takeLease({ client, clock, onWait }: LeaseParts): Promise<HeldLease> {
  const holder = randomUUID()
  const take = async (): Promise<void> => {
    await client.request('PUT', path, { body: { holder, seconds: leaseSeconds } })
  }
  const deadlineMs = clock.monotonicMs() + waitMs
  for (let isFirst = true; ; isFirst = false) {
    try {
      await take()
      break
    } catch (error) {
      if (!isTaken(error) || clock.monotonicMs() > deadlineMs) throw error
    }
    if (isFirst) onWait()
    await new Promise<void>((resolve) => void clock.after(pollMs, resolve))
  }
  return {
    extend: take,
    async [Symbol.asyncDispose]() {
      // A lease that cannot be released expires.
      await client.request('DELETE', path, { query: { holder } }).catch(() => undefined)
    },
  }
}

const isTaken = (error: unknown): boolean => error instanceof ApiError && error.code === 'apply_in_progress'
