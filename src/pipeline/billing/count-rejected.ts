import { isPromise, type MaybePromise } from '../../base/maybe-promise.ts'
import { isFault } from '../../base/fault.ts'
import type { Caller } from '../../domain/identity/principal.ts'
import { withLimitStatus } from '../../domain/limits/limited-fault.ts'
import type { Admission } from './admission.ts'

/**
 * Counts a request that is rejected before its admission as an attempt. The fault then carries the status of the limits; if
 * the attempt itself exceeds a limit, that fault is thrown instead. The free request is counted when it is claimed.
 */
export function countRejected<T>(
  admission: Pick<Admission, 'count'>,
  caller: Caller,
  work: () => MaybePromise<T>,
): MaybePromise<T> {
  const countAndRethrow = async (error: unknown): Promise<never> => {
    if (!isFault(error) || caller.kind === 'free') throw error
    const { limitStatus } = await admission.count(caller)
    throw withLimitStatus(error, limitStatus)
  }
  try {
    const result = work()
    return isPromise(result) ? result.catch(countAndRethrow) : result
  } catch (error) {
    return countAndRethrow(error)
  }
}
