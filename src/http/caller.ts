import type { FastifyRequest } from 'fastify'
import { isPromise, type MaybePromise } from '../base/maybe-promise.ts'
import { Fault, toFault } from '../base/fault.ts'
import type { Authenticator } from '../domain/identity/authenticate.ts'
import type { FreeRequests } from '../domain/identity/free-request.ts'
import type { Administrator, Caller, Principal } from '../domain/identity/principal.ts'
import { bearerOf, secretOf, wantsFreeRequest } from './headers.ts'
import type { Credential } from './route.ts'

/** Finds out who sent a request, by the credentials that its endpoint accepts. */
export type CallerOf = {
  principal(request: FastifyRequest): MaybePromise<Principal>
  /** Also the single anonymous free request, where no credential was sent. */
  principalOrFree(request: FastifyRequest): MaybePromise<Caller>
  administrator(request: FastifyRequest): MaybePromise<Administrator>
  /** For the policy gateway: an administrator, or whoever has a key of a project or a token. */
  manager(request: FastifyRequest): MaybePromise<Administrator | Principal>
  /** The same by the credential that a route asks for; routes that look more closely themselves have none here. */
  readonly identify: Readonly<Partial<Record<Credential, (request: FastifyRequest) => MaybePromise<unknown>>>>
}

export type CallerOfParts = { readonly authenticator: Authenticator; readonly freeRequests: FreeRequests }

/** What administrator keys begin with, and nothing else does. */
const administratorPrefix = 'adm_'

/** Each request is looked at once, however often it is asked who sent it. */
export function createCallerOf({ authenticator, freeRequests }: CallerOfParts): CallerOf {
  const principal = (request: FastifyRequest): MaybePromise<Principal> => {
    const { record } = request
    if (record?.principal !== undefined) return record.principal
    try {
      const actor = authenticator.principal(secretOf(request.headers), request.ip)
      const found = isPromise(actor) ? actor.then((it) => ownProject(request, it)) : ownProject(request, actor)
      if (record) record.principal = found
      return found
    } catch (error) {
      if (record) record.principal = rejected(toFault(error))
      throw error
    }
  }
  const principalOrFree = (request: FastifyRequest): MaybePromise<Caller> => {
    const isFree = wantsFreeRequest(request.headers) && secretOf(request.headers) === undefined
    return isFree ? freeRequests.identify(request.ip) : principal(request)
  }
  const administrator = (request: FastifyRequest): MaybePromise<Administrator> => {
    const { record } = request
    if (record?.administrator !== undefined) return record.administrator
    try {
      const actor = authenticator.administrator(bearerOf(request.headers.authorization), request.ip)
      const found = isPromise(actor) ? actor.then((it) => noted(request, it)) : noted(request, actor)
      if (record) record.administrator = found
      return found
    } catch (error) {
      if (record) record.administrator = rejected(toFault(error))
      throw error
    }
  }
  const manager = (request: FastifyRequest): MaybePromise<Administrator | Principal> => {
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

/** What was thrown, for those who ask again; nobody may. */
function rejected(fault: Fault): Promise<never> {
  const refusal = Promise.reject(fault)
  refusal.catch(() => {})
  return refusal
}

/** A key speaks for its own project only. */
function ownProject(request: FastifyRequest, actor: Principal): Principal {
  noted(request, actor)
  const project = request.headers['x-policy-project']
  if (project === undefined || project === actor.projectId) return actor
  throw new Fault('permission', 'project_mismatch', 'X-Policy-Project names another project than the key’s own.', {
    param: 'X-Policy-Project',
  })
}

function noted<Who extends Administrator | Principal>({ record }: FastifyRequest, actor: Who): Who {
  if (record) record.actor = actor
  return actor
}
