import type { Clock } from '../../base/clock.ts'
import type { SharedLimitStore } from './store.ts'

export const sharedOperations = [
  'admit',
  'settle',
  'leave',
  'renew',
  'grant',
  'close',
  'countBudgets',
  'heldBudgets',
  'accounts',
  'contribute',
  'register',
  'probe',
] as const satisfies readonly (keyof SharedLimitStore)[]
export type SharedOperation = (typeof sharedOperations)[number]

export type CallTimes = {
  readonly clock: Pick<Clock, 'monotonicMs'>
  /** Called at the end of every call, also of one that failed. */
  readonly onEnded: (operation: SharedOperation, seconds: number) => void
}

/** Measures the calls of a shared store. It returns the promises of the store themselves, so no caller waits longer. */
export function withCallTimes(store: SharedLimitStore, { clock, onEnded }: CallTimes): SharedLimitStore {
  const timed = <T>(operation: SharedOperation, result: Promise<T>): Promise<T> => {
    const startMs = clock.monotonicMs()
    const end = (): void => onEnded(operation, (clock.monotonicMs() - startMs) / 1000)
    result.then(end, end)
    return result
  }
  return {
    admit: (request) => timed('admit', store.admit(request)),
    settle: (settlement) => timed('settle', store.settle(settlement)),
    leave: (request) => timed('leave', store.leave(request)),
    renew: (renewals) => timed('renew', store.renew(renewals)),
    grant: (grant) => timed('grant', store.grant(grant)),
    close: (slice) => timed('close', store.close(slice)),
    countBudgets: (count) => timed('countBudgets', store.countBudgets(count)),
    heldBudgets: (organization, counters) => timed('heldBudgets', store.heldBudgets(organization, counters)),
    accounts: (organization) => timed('accounts', store.accounts(organization)),
    contribute: (contribution) => timed('contribute', store.contribute(contribution)),
    register: (node, hasContributed) => timed('register', store.register(node, hasContributed)),
    probe: () => timed('probe', store.probe()),
  }
}
