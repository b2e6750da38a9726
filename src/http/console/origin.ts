import type { FastifyRequest } from 'fastify'
import type { SessionOrigin } from '../../domain/members/console-sessions.ts'
import { pathOf } from '../family.ts'

/** The request that starts or ends a session, for the audit log. */
export const originOf = (request: FastifyRequest): SessionOrigin => ({
  requestId: request.id,
  call: {
    method: request.method,
    path: pathOf(request.url),
    address: request.ip,
    userAgent: request.headers['user-agent'],
  },
})
