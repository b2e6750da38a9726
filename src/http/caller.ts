import type { FastifyRequest } from 'fastify'
import { Fault } from '../base/fault.ts'
import type { Authenticator } from '../domain/identity/authenticate.ts'
import type { FreeRequests } from '../domain/identity/free-request.ts'
import type { Administrator, Caller, Principal } from '../domain/identity/principal.ts'
import { bearerOf, secretOf, wantsFreeRequest } from './headers.ts'
import type { RequestRecorder } from './request-record.ts'
import type { Credential } from './route.ts'

/** Finds out who sent a request, by the credentials that its endpoint accepts. */
export type CallerOf = {
  principal(request: FastifyRequest): Promise<Principal>
  /** Also the single anonymous free request, where no credential was sent. */
  principalOrFree(request: FastifyRequest): Promise<Caller>
  administrator(request: FastifyRequest): Promise<Administrator>
  /** For the policy gateway: an administrator, or whoever has a key of a project or a token. */
  manager(request: FastifyRequest): Promise<Administrator | Principal>
  /** The same by the credential that a route asks for; routes that look more closely themselves have none here. */
  readonly identify: Readonly<Partial<Record<Credential, (request: FastifyRequest) => Promise<unknown>>>>
}

export type CallerParts = {
  readonly authenticator: Authenticator
  readonly freeRequests: FreeRequests
  readonly recorder: RequestRecorder
}

/** What administrator keys begin with, and nothing else does. */
const administratorPrefix = 'adm_'

/** Each request is looked at once, however often it is asked who sent it. */
export function createCallerOf({ authenticator, freeRequests, recorder }: CallerParts): CallerOf {
  const principal = once(async (request): Promise<Principal> => {
    const who = await authenticator.principal(secretOf(request.headers), request.ip)
    recorder.identified(request, { organizationId: who.organization.id, credentialId: who.id })
    const project = request.headers['x-policy-project']
    if (project === undefined || project === who.projectId) return who
    throw new Fault('permission', 'project_mismatch', 'X-Policy-Project names another project than the key’s own.', {
      param: 'X-Policy-Project',
    })
  })
  const principalOrFree = async (request: FastifyRequest): Promise<Caller> => {
    const isFree = wantsFreeRequest(request.headers) && secretOf(request.headers) === undefined
    return isFree ? freeRequests.identify(request.ip) : principal(request)
  }
  const administrator = once(async (request): Promise<Administrator> => {
    const who = await authenticator.administrator(bearerOf(request.headers.authorization), request.ip)
    recorder.identified(request, { organizationId: who.organization.id, credentialId: who.id })
    return who
  })
  const manager = (request: FastifyRequest): Promise<Administrator | Principal> => {
    const isAdministrator = bearerOf(request.headers.authorization)?.startsWith(administratorPrefix)
    return isAdministrator ? administrator(request) : principal(request)
  }
  return {
    principal,
    principalOrFree,
    administrator,
    manager,
    identify: { api_key: principal, api_key_or_free: principalOrFree, admin_key: administrator, gateway: manager },
  }
}

function once<T>(identify: (request: FastifyRequest) => Promise<T>): (request: FastifyRequest) => Promise<T> {
  const known = new WeakMap<FastifyRequest, Promise<T>>()
  return (request) => {
    const found = known.get(request) ?? identify(request)
    known.set(request, found)
    return found
  }
}
