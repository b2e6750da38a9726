import { isFault } from '../../base/fault.ts'
import type { Caller } from '../../domain/identity/principal.ts'
import type { Admission } from './admission.ts'

/**
 * What is refused before it is admitted is an attempt all the same: it counts as a request, and is told so where it is
 * one too many. The free request is counted where it is claimed.
 */
export async function countingRefusals<T>(
  admission: Pick<Admission, 'count'>,
  caller: Caller,
  work: () => T | Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (isFault(error) && caller.kind !== 'free') await admission.count(caller)
    throw error
  }
}
