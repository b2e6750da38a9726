import { Fault, type FaultFields } from '../../base/fault.ts'
import type { LimitStatus } from './status.ts'

/** The fault of a request whose limits were checked. It carries their status, so that the error response can report it. */
export class LimitedFault extends Fault {
  readonly limitStatus: LimitStatus

  constructor({ kind, code, message, details }: FaultFields, limitStatus: LimitStatus) {
    super(kind, code, message, details)
    this.limitStatus = limitStatus
  }
}

/** The same fault with the status of the caller's limits. A fault that has one keeps it. */
export const withLimitStatus = (fault: Fault, limitStatus: LimitStatus): Fault =>
  fault instanceof LimitedFault ? fault : new LimitedFault(fault, limitStatus)
