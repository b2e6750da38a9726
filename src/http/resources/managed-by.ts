import type { FastifyRequest } from 'fastify'
import Type, { type TObject } from 'typebox'
import { Fault } from '../../base/fault.ts'
import { isRecord } from '../../base/record.ts'
import type { AuditKind, AuditRecord, WithAuditRecord } from '../../domain/mutations/audit-log.ts'
import { claimResource, releaseResource, requireOwner, type OwnershipStore } from '../../domain/mutations/ownership.ts'
import { requirePermission, type Permission } from '../../domain/identity/permissions.ts'
import { IdempotencyHeaders } from './idempotency-key.ts'
import { ConditionalHeaders } from './if-match.ts'

const ownerPattern = /^[A-Za-z0-9][A-Za-z0-9._/-]{0,79}$/

/** The headers of mutations of resources that files can manage. */
const ManagedHeaders = Type.Object({
  'X-Gatehouse-Managed-By': Type.Optional(
    Type.String({
      pattern: ownerPattern.source,
      description:
        'The name of the files that manage the resource from now on. Responds with 409 `managed_elsewhere` if other files manage it.',
      examples: ['platform-config'],
    }),
  ),
  'X-Gatehouse-Take-Over': Type.Optional(
    Type.Enum(['true'], { description: 'Takes the resource over from the files that manage it.' }),
  ),
})

/** The header of deletions of such resources. */
const RemovalHeaders = Type.Object({
  'X-Gatehouse-Managed-By': Type.Optional(
    Type.String({
      pattern: ownerPattern.source,
      description:
        'The name of the files that manage the resource. Responds with 409 `managed_elsewhere`, and changes nothing, unless these files manage it.',
      examples: ['platform-config'],
    }),
  ),
})

type HeaderChoice = { readonly takesIfMatch?: true; readonly managed?: unknown; readonly removes?: unknown }

/** The headers of a mutation. */
export function mutationHeaders({ takesIfMatch, managed, removes }: HeaderChoice): TObject {
  const own = takesIfMatch ? ConditionalHeaders : IdempotencyHeaders
  const owner = managed ? ManagedHeaders.properties : removes ? RemovalHeaders.properties : undefined
  return owner ? Type.Object({ ...own.properties, ...owner }) : own
}

/** The field of a resource that files can manage. */
export const managedBy = Type.Optional(
  Type.String({
    description: 'The name of the files that manage it, whose next apply overwrites changes. Absent: none.',
  }),
)

/** The gateway configuration has no id of its own. */
export const gatewayResourceId = 'gateway_config'

/** A resource that files can manage: its id, and the kind of the audit record if nothing but its owner changes. */
export type ManagedResource = {
  readonly id: string
  readonly kind: AuditKind
  /** Needed to set the owner, because the owner may delete the resource. */
  readonly permission?: Permission
}

/** A resource that a mutation deletes or archives. */
export type RemovedResource = { readonly id: string; readonly keepsOwner?: true }

type OwnedActor = {
  readonly organization: { readonly id: string }
  readonly permissions: ReadonlySet<Permission>
}

type Owned<T> = {
  readonly request: FastifyRequest
  readonly actor: OwnedActor
  readonly managed?: (value: T) => ManagedResource
  readonly removes?: (value: T) => RemovedResource
  readonly present: (value: T) => unknown
}

/** The result of a mutation with its response, whose owner is that of the request or the stored one. */
export async function ownedResult<T>(
  store: OwnershipStore,
  result: WithAuditRecord<T>,
  { request, actor, managed, removes, present }: Owned<T>,
): Promise<WithAuditRecord<T> & { readonly body: unknown }> {
  const body = present(result.value)
  if (!managed && !removes) return { ...result, body }
  const owner = ownerIn(request)
  if (removes) await removeFor(store, removes(result.value), { actor, owner })
  const record =
    managed && owner !== undefined
      ? await claimFor(store, result, { request, actor, owner, resource: managed(result.value) })
      : result.record
  const owned = await presentOwners(store, actor.organization.id, body)
  return { ...result, ...(record && { record }), body: owned }
}

type Removal = { readonly actor: OwnedActor; readonly owner: string | undefined }

/** Checks the owner that the request names, in the transaction of the removal. */
async function removeFor(
  store: OwnershipStore,
  { id: resourceId, keepsOwner }: RemovedResource,
  { actor, owner }: Removal,
): Promise<void> {
  const removal = { organizationId: actor.organization.id, resourceId, owner }
  await (keepsOwner ? requireOwner(store, removal) : releaseResource(store, removal))
}

type Claim = {
  readonly request: FastifyRequest
  readonly actor: OwnedActor
  readonly owner: string
  readonly resource: ManagedResource
}

/** Sets the owner that the request names, in the transaction of the mutation. Returns the audit record with it. */
async function claimFor(
  store: OwnershipStore,
  { record }: WithAuditRecord<unknown>,
  { request, actor, owner, resource: { id, kind, permission } }: Claim,
): Promise<AuditRecord | undefined> {
  if (permission !== undefined) requirePermission(actor.permissions, permission)
  const organizationId = actor.organization.id
  const isTakeOver = headerOf(request, 'x-gatehouse-take-over') === 'true'
  if (!(await claimResource(store, { organizationId, resourceId: id, owner, isTakeOver }))) return record
  const written = record ?? { kind, resourceId: id, details: {} }
  return { ...written, details: { ...written.details, managed_by: owner } }
}

function ownerIn(request: FastifyRequest): string | undefined {
  const owner = headerOf(request, 'x-gatehouse-managed-by')
  if (owner === undefined || ownerPattern.test(owner)) return owner
  const message =
    'X-Gatehouse-Managed-By must be 1 to 80 letters, digits and . _ / -, and begin with a letter or digit.'
  throw new Fault('malformed', 'invalid_header', message, { param: 'X-Gatehouse-Managed-By' })
}

function headerOf({ headers }: FastifyRequest, name: string): string | undefined {
  const value = headers[name]
  return typeof value === 'string' ? value : undefined
}

/** The response with the owner of each resource in it: of a list, of an object, or of the object under its only key. */
export async function presentOwners<Body>(store: OwnershipStore, organizationId: string, body: Body): Promise<Body> {
  if (!isRecord(body)) return body
  const nested = Object.values(body).flatMap((value: unknown) => (Array.isArray(value) ? value : [value]))
  const ids = [body, ...nested].flatMap((each) => idsOf(each))
  const owners = await store.ownersOf(organizationId, [...new Set(ids)])
  if (owners.size === 0) return body
  const owned = (value: unknown): unknown => {
    const owner = owners.get(idsOf(value)[0] ?? '')
    return isRecord(value) && owner !== undefined ? { ...value, managed_by: owner } : value
  }
  const fields = Object.entries(body).map(([name, value]): [string, unknown] => [
    name,
    Array.isArray(value) ? value.map(owned) : owned(value),
  ])
  return owned(Object.fromEntries(fields)) as Body
}

function idsOf(value: unknown): string[] {
  if (!isRecord(value)) return []
  if (typeof value['id'] === 'string') return [value['id']]
  return 'config' in value && 'rolled_back' in value ? [gatewayResourceId] : []
}
