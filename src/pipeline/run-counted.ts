import { isFault } from '../base/fault.ts'
import type { MaybePromise } from '../base/maybe-promise.ts'
import type { Principal } from '../domain/identity/principal.ts'
import { withLimitStatus } from '../domain/limits/limited-fault.ts'
import type { LimitStatus } from '../domain/limits/status.ts'
import type { Admission } from './billing/admission.ts'

/** An operation without an answer of a model. It costs no credits, and the audit log does not record it. */
export type CountedOperation<Request, Result> = (call: CountedCall<Request>) => Promise<Result>

export type CountedCall<Request> = {
  readonly principal: Principal
  readonly request: Request
  readonly signal: AbortSignal
}

export type CountedInput<Request> = Omit<CountedCall<Request>, 'request'> & {
  /** Called after the request is counted, so that an invalid one counts as well. */
  readonly decode: () => MaybePromise<Request>
}

export type RunCounted = <Request, Result>(
  operation: CountedOperation<Request, Result>,
  request: CountedInput<Request>,
) => Promise<{ readonly result: Result; readonly limitStatus: LimitStatus }>

/** Runs an operation that counts against the request limits only. */
export function createRunCounted(admission: Pick<Admission, 'count'>): RunCounted {
  return async (operation, { principal, signal, decode }) => {
    const { limitStatus } = await admission.count(principal)
    try {
      const result = await operation({ principal, signal, request: await decode() })
      return { result, limitStatus }
    } catch (error) {
      throw isFault(error) ? withLimitStatus(error, limitStatus) : error
    }
  }
}
