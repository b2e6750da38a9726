import type { FastifyRequest } from 'fastify'
import { Fault } from '../base/fault.ts'
import type { Authenticator } from '../domain/identity/authenticate.ts'
import type { FreeRequests } from '../domain/identity/free-request.ts'
import type { Administrator, Caller, Principal } from '../domain/identity/principal.ts'
import { bearerOf, secretOf, wantsFreeRequest } from './headers.ts'
import type { RequestRecorder } from './request-record.ts'

/** Finds out who sent a request, by the credentials that its endpoint accepts. */
export type CallerOf = {
  principal(request: FastifyRequest): Promise<Principal>
  /** Also the single anonymous free request, where no credential was sent. */
  principalOrFree(request: FastifyRequest): Promise<Caller>
  administrator(request: FastifyRequest): Promise<Administrator>
  /** For the policy gateway: an administrator, or whoever has a key of a project or a token. */
  manager(request: FastifyRequest): Promise<Administrator | Principal>
}

export type CallerParts = {
  readonly authenticator: Authenticator
  readonly freeRequests: FreeRequests
  readonly recorder: RequestRecorder
}

/** What administrator keys begin with, and nothing else does. */
const administratorPrefix = 'adm_'

export function createCallerOf({ authenticator, freeRequests, recorder }: CallerParts): CallerOf {
  const principal = async (request: FastifyRequest): Promise<Principal> => {
    const who = await authenticator.principal(secretOf(request.headers), request.ip)
    recorder.identified(request, { organizationId: who.organization.id, credentialId: who.id })
    const project = request.headers['x-policy-project']
    if (project === undefined || project === who.projectId) return who
    throw new Fault('permission', 'project_mismatch', 'X-Policy-Project names another project than the key’s own.', {
      param: 'X-Policy-Project',
    })
  }
  const administrator = async (request: FastifyRequest): Promise<Administrator> => {
    const who = await authenticator.administrator(bearerOf(request.headers.authorization), request.ip)
    recorder.identified(request, { organizationId: who.organization.id, credentialId: who.id })
    return who
  }
  return {
    principal,
    administrator,
    manager: (request) =>
      bearerOf(request.headers.authorization)?.startsWith(administratorPrefix)
        ? administrator(request)
        : principal(request),
    async principalOrFree(request) {
      const isFree = wantsFreeRequest(request.headers) && secretOf(request.headers) === undefined
      return isFree ? freeRequests.identify(request.ip) : principal(request)
    },
  }
}
