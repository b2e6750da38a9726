import { createCredentialCache, type CredentialCacheParts, type KnownCredential } from './credential-cache.ts'
import type { Lookups } from './lookups.ts'
import { isPermission } from './permissions.ts'
import type { Organization, Principal, Project } from './principal.ts'

/** What a verified token of the configured issuer says. The port's adapter checks signature, issuer, audience, time. */
export type Claims = {
  readonly subject: string
  readonly organizationId: string
  readonly projectId: string
  readonly scope: readonly string[]
  readonly expiresAtMs: number
}
/** The address is where it came from: a flood of tokens from one address does not delay those of others. */
export type VerifyToken = (token: string, address: string) => Promise<Claims>

export type TokenReaderParts = CredentialCacheParts & { readonly lookups: Pick<Lookups, 'project'> }

type KnownProject = Pick<Project, 'id'> & { readonly organization: Organization }

/** A token is checked again after a minute, so that a key its issuer withdrew does not live on here. */
const trustTokenMs = 60_000

/** Who a verified token speaks for. It was checked without the database, so only its project has to be known. */
export function createTokenReader({ lookups, ...memory }: TokenReaderParts) {
  const { clock, invalid } = memory
  const projects = createCredentialCache<KnownProject>(memory)

  async function projectOf(claims: Claims, address: string): Promise<KnownCredential<KnownProject>> {
    const name = `${claims.organizationId} ${claims.projectId}`
    const read = async (): Promise<KnownCredential<KnownProject>> => {
      const { found, readAt } = await lookups.project(claims, address)
      if (!found) throw invalid()
      const who = { id: found.project.id, organization: found.organization }
      return { who, readAt, expiresAtMs: null, touchedAtMs: Infinity }
    }
    return projects.recall(name) ?? projects.refresh(name, read)
  }

  return async (claims: Claims, address: string): Promise<KnownCredential<Principal>> => {
    const { who: project, readAt } = await projectOf(claims, address)
    const who: Principal = {
      kind: 'jwt',
      id: `jwt:${claims.subject}`,
      organization: project.organization,
      projectId: project.id,
      models: null,
      networks: null,
      permissions: new Set(claims.scope.filter(isPermission)),
    }
    const expiresAtMs = Math.min(claims.expiresAtMs, clock.nowMs() + trustTokenMs)
    return { who, readAt, expiresAtMs, touchedAtMs: Infinity }
  }
}
