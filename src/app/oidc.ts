import { hash } from 'node:crypto'
import { consoleSessionReads } from '../adapters/stores/sql/identity/console-sessions.ts'
import type { Config } from '../config/config.ts'
import { createKeyringEncryption } from '../domain/server-secret/keyring-encryption.ts'
import type { AuthFailures } from '../domain/identity/auth-failures.ts'
import type { ConsoleSessions } from '../domain/members/console-sessions.ts'
import type { IdentityProvider } from '../domain/members/identity-provider.ts'
import { organizationNamed } from '../domain/identity/operator.ts'
import { createPersonSignIn, type PersonSignInParts } from '../domain/members/person-sign-in.ts'
import type { OidcParts } from '../http/console/oidc.ts'
import { publicConsoleUrl } from './console-url.ts'
import type { Infrastructure } from './infrastructure.ts'
import type { DirectoryStore } from '../domain/identity/store.ts'

export type OidcSignInParts = Pick<PersonSignInParts, 'mutate'> & {
  readonly reads: { readonly directory: DirectoryStore }
  readonly sessions: ConsoleSessions
  readonly failures: AuthFailures
}

/** Sign-in to the console through the identity provider; undefined if none is configured. */
export function createOidc(infrastructure: Infrastructure, parts: OidcSignInParts): OidcParts | undefined {
  const { config, clock, ids, keyring, random, log, database } = infrastructure
  const { oidc } = config.console
  if (oidc === undefined) return undefined
  const { mutate, reads, sessions, failures } = parts
  return {
    name: oidc.name,
    provider: lazyProvider(infrastructure, oidc),
    signInPerson: createPersonSignIn({
      mutate,
      sessions,
      organization: () => organizationNamed(reads.directory, oidc.organization),
      roleOfGroup: new Map(Object.entries(oidc.roles)),
      ids,
      clock,
    }),
    claimSignIn: (state, expiresAtMs) => consoleSessionReads(database).claimSignIn(hash('sha256', state), expiresAtMs),
    encryption: createKeyringEncryption(keyring, 'pending sign-ins', random),
    failures,
    clock,
    onRefused: ({ requestId, reason, error }) =>
      log.warn({ request_id: requestId, reason, error }, 'a sign-in through the identity provider was refused'),
    redirectUri: (origin) =>
      oidc.redirect_uri ?? `${publicConsoleUrl(config.server) ?? `${origin}/console/`}api/oidc/callback`,
  }
}

type Settings = NonNullable<Config['console']['oidc']>

/** Loads the client of OpenID Connect at the first sign-in, because most starts need none. */
function lazyProvider({ clock, live }: Infrastructure, settings: Settings): IdentityProvider {
  let provider: Promise<IdentityProvider> | undefined
  const load = async (): Promise<IdentityProvider> => {
    const { createOidcProvider } = await import('../adapters/oidc.ts')
    const { issuer, client_id: clientId, scopes, groups_claim: groupsClaim, trust_email: trustEmail } = settings
    const clientSecret = () => live.read('console.oidc.client_secret', settings.client_secret)
    return createOidcProvider({ issuer, clientId, clientSecret, scopes, groupsClaim, trustEmail }, clock)
  }
  return {
    start: async (redirectUri) => (await (provider ??= load())).start(redirectUri),
    finish: async (answer, pending) => (await (provider ??= load())).finish(answer, pending),
  }
}
