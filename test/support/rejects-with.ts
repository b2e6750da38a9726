import { Fault, type FaultCode } from '../../src/base/fault.ts'

/** For `assert.rejects` and `assert.throws`: a Fault with this code. */
export const rejectsWith =
  (code: FaultCode) =>
  (error: unknown): boolean =>
    error instanceof Fault && error.code === code
