import { isPromise, type MaybePromise } from '../../base/maybe-promise.ts'
import { isFault } from '../../base/fault.ts'
import type { Caller } from '../../domain/identity/principal.ts'
import { withLimitStatus } from '../../domain/limits/limited-fault.ts'
import type { Admission } from './admission.ts'

/**
 * What is refused before it is admitted is an attempt all the same: it counts as a request, and says so: in headers,
 * or as a refusal where it is one too many. The free request is counted where it is claimed.
 */
export function countRejected<T>(
  admission: Pick<Admission, 'count'>,
  caller: Caller,
  work: () => MaybePromise<T>,
): MaybePromise<T> {
  const refused = async (error: unknown): Promise<never> => {
    if (!isFault(error) || caller.kind === 'free') throw error
    const { limitStatus } = await admission.count(caller)
    throw withLimitStatus(error, limitStatus)
  }
  try {
    const result = work()
    return isPromise(result) ? result.catch(refused) : result
  } catch (error) {
    return refused(error)
  }
}
