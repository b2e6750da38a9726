import type { FastifyRequest } from 'fastify'
import { Fault } from '../base/fault.ts'
import { operatorOf, organizationNamed } from '../domain/identity/operator.ts'
import type { Administrator } from '../domain/identity/principal.ts'
import type { DirectoryStore } from '../domain/identity/store.ts'
import type { CallerOf } from './caller.ts'

/** Names the organization of a request on the control socket. It may be left out while there is only one. */
export const organizationHeader = 'x-gatehouse-organization'

/**
 * Requests on the control socket carry no credential: a process that may open the file acts as the operator. The
 * organization is read once for each request.
 */
export function createOperatorCallerOf(
  reads: Pick<DirectoryStore, 'findOrganization' | 'listOrganizations'>,
): CallerOf {
  const operator = (request: FastifyRequest): Promise<Administrator> => {
    const { record } = request
    const known = record?.administrator
    if (known !== undefined) return Promise.resolve(known)
    const named = request.headers[organizationHeader]
    const administrator = organizationNamed(reads, typeof named === 'string' ? named : undefined).then(operatorOf)
    administrator.then(
      (actor) => record && (record.actor = actor),
      () => {},
    )
    if (record) record.administrator = administrator
    return administrator
  }
  return {
    principal: noPrincipal,
    principalOrFree: noPrincipal,
    administrator: operator,
    manager: operator,
    identify: { admin_key: operator, gateway: operator },
  }
}

/** The operator belongs to no project, so that inference is not served on the control socket. */
const noPrincipal = (): never => {
  throw new Fault('permission', 'permission_denied', 'The control socket does not serve inference.')
}
