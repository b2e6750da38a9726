import type { FastifyReply } from 'fastify'
import type { Ids } from '../../../base/ids.ts'
import type { RequestTrace } from '../../../domain/tracing/request-trace.ts'
import type { StartedOperation } from '../../../pipeline/started-operation.ts'
import { rateLimitHeaders } from '../../rate-limit-headers.ts'

/** `close` also follows a disconnect, after which there is no `finish`. */
export function reportResponse({ raw }: FastifyReply, trace: RequestTrace): void {
  const report = (): void => trace.onResponded(raw.headersSent ? raw.statusCode : 0)
  if (raw.closed) report()
  else raw.once('close', report)
}

/** Derives the ids of an answer's parts from the answer's id, so that encoding it twice produces the same ids. */
export function createPartIds(answerId: string): Ids {
  let count = 0
  return (prefix) => {
    const own = answerId.slice(answerId.search(/[_-]/) + 1)
    return `${prefix}_${own}${(count++).toString(36).padStart(2, '0')}`
  }
}

export const limitHeaders = ({ admission }: StartedOperation): Record<string, string> =>
  admission === null ? {} : rateLimitHeaders(admission.limitStatus)
