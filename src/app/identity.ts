import { credentialStore } from '../adapters/stores/sql/identity/credentials.ts'
import type { Clock } from '../base/clock.ts'
import { ConfigError, type Config } from '../config/config.ts'
import { consoleSessionReads, consoleSessionStore } from '../adapters/stores/sql/identity/console-sessions.ts'
import { directoryStore } from '../adapters/stores/sql/identity/directory.ts'
import { memberStore } from '../adapters/stores/sql/identity/members.ts'
import {
  createConsoleSessions,
  sessionIdleMs,
  type ConsoleSessionParts,
  type ConsoleSessions,
} from '../domain/members/console-sessions.ts'
import { createAuthFailures } from '../domain/identity/auth-failures.ts'
import { createAuthenticator, type Authenticator } from '../domain/identity/authenticate.ts'
import type { OnKeyDenied } from '../domain/identity/key-denial.ts'
import { createFreeRequests, type FreeRequests } from '../domain/identity/free-request.ts'
import type { VerifyToken } from '../domain/identity/token-reader.ts'
import { createKeyDigests } from '../domain/identity/key-digests.ts'
import type { Stores } from './stores.ts'
import type { OidcParts } from '../http/console/oidc.ts'
import type { Infrastructure } from './infrastructure.ts'
import { createOidc } from './oidc.ts'
import { reportDenials } from './key-denials.ts'

/** Authentication by key or token, and the single free request. */
export type Identity = {
  readonly authenticator: Authenticator
  readonly freeRequests: FreeRequests
  readonly onDenied: OnKeyDenied
  /** Undefined if the console is off. */
  readonly sessions: ConsoleSessions | undefined
  /** Undefined if no identity provider is configured. */
  readonly oidc: OidcParts | undefined
}

export async function createIdentity(infrastructure: Infrastructure, stores: Stores): Promise<Identity> {
  const { mutate, reads } = stores.of((tx) => ({
    directory: directoryStore(tx),
    members: memberStore(tx),
    sessions: consoleSessionStore(tx),
  }))
  const { config, clock, changes, database, keyring, warn } = infrastructure
  const store = credentialStore(database)
  const onDenied = reportDenials(infrastructure, stores.audit.events)
  const failures = createAuthFailures(clock, config.server.auth_failures_per_minute)
  const sessions = config.console.enabled ? openSessions(infrastructure, { mutate, failures }) : undefined
  return {
    onDenied,
    sessions,
    oidc: sessions && createOidc(infrastructure, { mutate, reads, sessions, failures }),
    authenticator: createAuthenticator({
      store,
      digests: createKeyDigests(keyring),
      clock,
      changes,
      failures,
      verifyToken: await createTokenVerifier(config, clock),
      onDenied,
      onTouchFailed: warn('the last use of a key could not be written'),
    }),
    freeRequests: createFreeRequests({
      store,
      clock,
      keyring,
      dailyCap: config.free_tier.daily_requests,
    }),
  }
}

function openSessions(
  { built, jobs, clock, changes, ids, random, database, warn }: Infrastructure,
  parts: Pick<ConsoleSessionParts, 'mutate' | 'failures'>,
): ConsoleSessions {
  const reads = consoleSessionReads(database)
  const removeExpired = (): Promise<void> => {
    const nowMs = clock.nowMs()
    return reads.removeExpired({ nowMs, idleSinceMs: nowMs - sessionIdleMs })
  }
  built.use(jobs.start('remove-ended-console-sessions', removeExpired))
  const onTouchFailed = warn('the last use of a console session could not be written')
  return createConsoleSessions({ ...parts, reads, changes, clock, ids, random, onTouchFailed })
}

/** Tokens are accepted only if an issuer is configured, with one source of keys. */
async function createTokenVerifier({ auth: { jwt } }: Config, clock: Clock): Promise<VerifyToken | undefined> {
  if (jwt === undefined) return undefined
  const { jwks_url: jwksUrl, secret, ...settings } = jwt
  if ((jwksUrl === undefined) === (secret === undefined))
    throw new ConfigError(['auth.jwt needs either jwks_url or secret'])
  const { createJwtVerifier } = await import('../adapters/jwt.ts')
  return createJwtVerifier(
    { ...settings, type: settings.type, keys: secret === undefined ? { jwksUrl: jwksUrl ?? '' } : { secret } },
    clock,
  )
}
