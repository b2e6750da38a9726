import { Fault } from '../../base/fault.ts'
import { createCredentialCache, type CredentialCacheParts, type KnownCredential } from './credential-cache.ts'
import type { Lookups } from './lookups.ts'
import { isPermission } from './permissions.ts'
import type { Organization, Principal, Project } from './principal.ts'

/** The claims of a verified token. The adapter checks signature, issuer, audience and time. */
export type Claims = {
  readonly subject: string
  readonly organizationId: string
  readonly projectId: string
  readonly scope: readonly string[]
  readonly expiresAtMs: number
}
/** Verification is queued fairly by address, so that many tokens from one address do not delay others. */
export type VerifyToken = (token: string, address: string) => Promise<Claims>

export type TokenReaderParts = CredentialCacheParts & { readonly lookups: Pick<Lookups, 'project'> }

type KnownProject = Pick<Project, 'id'> & { readonly organization: Organization }

/** A token says what is wrong with it, unlike a key: only its issuer can make one that gets as far as its claims. */
export const invalidToken = (problem: string, cause?: unknown): Fault =>
  new Fault('auth', 'invalid_api_key', `The token is not valid: ${problem}.`, { credential: 'invalid', cause })

/** A token is verified again after a minute, so that the withdrawal of an issuer's key takes effect. */
const trustTokenMs = 60_000

/** Returns the principal of a verified token. Only its project is looked up. */
export function createTokenReader({ lookups, ...cacheParts }: TokenReaderParts) {
  const { clock } = cacheParts
  const projects = createCredentialCache<KnownProject>(cacheParts)

  async function projectOf(claims: Claims, address: string): Promise<KnownCredential<KnownProject>> {
    const name = `${claims.organizationId} ${claims.projectId}`
    const read = async (): Promise<KnownCredential<KnownProject>> => {
      const { value: row, readAt } = await lookups.project(claims, address)
      if (!row) {
        const { organizationId, projectId } = claims
        throw invalidToken(`${projectId} is not an active project of the organization ${organizationId}`)
      }
      const value = { id: row.project.id, organization: row.organization }
      return { value, readAt, expiresAtMs: null, touchedAtMs: Infinity }
    }
    return projects.get(name) ?? projects.refresh(name, read)
  }

  return async (claims: Claims, address: string): Promise<KnownCredential<Principal>> => {
    const { value: project, readAt } = await projectOf(claims, address)
    const principal: Principal = {
      kind: 'jwt',
      id: `jwt:${claims.subject}`,
      organization: project.organization,
      projectId: project.id,
      models: null,
      networks: null,
      permissions: new Set(claims.scope.filter(isPermission)),
    }
    const expiresAtMs = Math.min(claims.expiresAtMs, clock.nowMs() + trustTokenMs)
    return { value: principal, readAt, expiresAtMs, touchedAtMs: Infinity }
  }
}
