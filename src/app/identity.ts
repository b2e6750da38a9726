import { credentialStore } from '../adapters/stores/sql/identity/credentials.ts'
import { createAuthFailures } from '../domain/identity/auth-failures.ts'
import { createAuthenticator, type Authenticator } from '../domain/identity/authenticate.ts'
import { createFreeRequests, type FreeRequests } from '../domain/identity/free-request.ts'
import { deriveKey, type Digest } from '../domain/identity/key-format.ts'
import type { Ground } from './ground.ts'
import { createTokenVerifier } from './tokens.ts'

/** Who may ask: keys, tokens, and the single free request. */
export type Identity = { readonly authenticator: Authenticator; readonly freeRequests: FreeRequests }

export async function createIdentity(ground: Ground, digest: Digest): Promise<Identity> {
  const { config, clock, changes, database, secret, warn } = ground
  const store = credentialStore(database)
  return {
    authenticator: createAuthenticator({
      store,
      digest,
      clock,
      changes,
      failures: createAuthFailures(clock, config.server.auth_failures_per_minute),
      verifyToken: await createTokenVerifier(config, clock),
      onTouchFailed: warn('the use of a key could not be noted'),
    }),
    freeRequests: createFreeRequests({
      store,
      clock,
      hashKey: deriveKey(secret, 'free request'),
      dailyCap: config.free_tier.daily_requests,
    }),
  }
}
