import type { FastifyRequest } from 'fastify'
import type { LimitStatus } from '../../domain/limits/status.ts'
import type { InferenceParts } from './codec.ts'

/** Counts a request whose body could not be read against the limits of its key. */
export function createRejectedBodyCounter({ callerOf, admission }: Pick<InferenceParts, 'callerOf' | 'admission'>) {
  return async (request: FastifyRequest): Promise<LimitStatus | undefined> => {
    const caller = await Promise.try(callerOf.principal, request).catch(() => undefined)
    return caller === undefined ? undefined : (await admission.count(caller)).limitStatus
  }
}
