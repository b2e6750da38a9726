import type { FastifyInstance } from 'fastify'
import type { Ids } from '../base/ids.ts'
import type { Log } from '../base/log.ts'
import { createBodyMemoryBudget } from '../http/body-memory-budget.ts'
import { createOperatorCallerOf } from '../http/operator-caller.ts'
import type { RequestRecorder } from '../http/request-record.ts'
import { createServer } from '../http/server.ts'
import { createOperatorFamilies, type OperatorFamilyParts } from './operator-families.ts'
import type { DirectoryStore } from '../domain/identity/store.ts'

export type OperatorServerParts = Omit<OperatorFamilyParts, 'callerOf'> & {
  readonly directory: DirectoryStore
  readonly recorder: RequestRecorder
  readonly ids: Ids
  readonly log: Log
  readonly requestTimeoutMs: number
}

/** A quarter of what the network ports may use at least. */
const bodyMemoryBytes = 16 * 1024 * 1024

/** The server behind the control socket. Commands without a running server send their requests into one of their own. */
export function createOperatorServer(parts: OperatorServerParts): Promise<FastifyInstance> {
  const { recorder, clock, ids, log, requestTimeoutMs } = parts
  const callerOf = createOperatorCallerOf(parts.directory)
  return createServer({
    families: createOperatorFamilies({ ...parts, callerOf }),
    identify: callerOf.identify,
    recorder,
    clock,
    ids,
    log,
    requestTimeoutMs,
    proxyHops: 0,
    bodyMemory: createBodyMemoryBudget(bodyMemoryBytes),
    onHalfClose: () => {},
  })
}
