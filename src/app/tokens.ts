import type { Clock } from '../base/clock.ts'
import { ConfigError, type Config } from '../config.ts'
import type { VerifyToken } from '../domain/identity/authenticate.ts'

/** Tokens are off unless an issuer is configured, with one source of keys. */
export async function createTokenVerifier({ auth: { jwt } }: Config, clock: Clock): Promise<VerifyToken | undefined> {
  if (jwt === undefined) return undefined
  const { issuer, audience, algorithms, jwks_url: jwksUrl, secret } = jwt
  if ((jwksUrl === undefined) === (secret === undefined))
    throw new ConfigError(['auth.jwt needs either jwks_url or secret'])
  const { createJwtVerifier } = await import('../adapters/tokens/jwt.ts')
  return createJwtVerifier(
    { issuer, audience, algorithms, keys: secret === undefined ? { jwksUrl: jwksUrl ?? '' } : { secret } },
    clock,
  )
}
