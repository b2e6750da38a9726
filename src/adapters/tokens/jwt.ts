import { createRemoteJWKSet, jwtVerify, type JWTVerifyGetKey } from 'jose'
import { Fault, isFault } from '../../base/fault.ts'
import type { Clock } from '../../base/clock.ts'
import { invalidCredential, type Claims, type VerifyToken } from '../../domain/identity/authenticate.ts'

export type JwtSettings = {
  readonly issuer: string
  readonly audience: string
  /** The `typ` of access tokens, where the issuer tells them from other tokens by it. */
  readonly type: string | undefined
  readonly algorithms: readonly string[]
  readonly keys: { readonly jwksUrl: string } | { readonly secret: string }
}

const toleranceSeconds = 30

/**
 * Checks tokens of one issuer. The algorithm list comes from the configuration and never from the token;
 * keys come from the configured address alone, whatever the token's own headers point at.
 */
export function createJwtVerifier(settings: JwtSettings, clock: Clock): VerifyToken {
  const { issuer, audience, type } = settings
  const verify = keySource(settings)
  return async (token) => {
    try {
      const options = {
        issuer,
        audience,
        clockTolerance: toleranceSeconds,
        currentDate: new Date(clock.nowMs()),
        requiredClaims: ['exp', 'sub'],
        ...(type !== undefined && { typ: type }),
      }
      return claimsOf((await verify(token, options)).payload)
    } catch (error) {
      if (isFault(error)) throw error
      throw isIssuerDown(error) ? issuerDown(error) : invalidCredential(error)
    }
  }
}

type Options = NonNullable<Parameters<typeof jwtVerify>[2]>

function keySource({ keys, algorithms }: JwtSettings) {
  if ('secret' in keys) {
    const secret = new TextEncoder().encode(keys.secret)
    return (token: string, options: Options) => jwtVerify(token, secret, { ...options, algorithms: ['HS256'] })
  }
  const remote: JWTVerifyGetKey = createRemoteJWKSet(new URL(keys.jwksUrl), {
    timeoutDuration: 5_000,
    cooldownDuration: 30_000,
    cacheMaxAge: 600_000,
  })
  const asymmetric = algorithms.filter((algorithm) => !algorithm.startsWith('HS'))
  return (token: string, options: Options) => jwtVerify(token, remote, { ...options, algorithms: asymmetric })
}

function claimsOf(payload: Readonly<Record<string, unknown>>): Claims {
  const { sub, org_id: organizationId, project_id: projectId, scope, exp } = payload
  if (
    typeof sub !== 'string' ||
    typeof organizationId !== 'string' ||
    typeof projectId !== 'string' ||
    typeof exp !== 'number'
  ) {
    throw invalidCredential(new Error('the token lacks sub, org_id, project_id or exp'))
  }
  return { subject: sub, organizationId, projectId, scope: wordsOf(scope), expiresAtMs: exp * 1000 }
}

/** Most issuers write one text (RFC 8693), some a list. */
function wordsOf(scope: unknown): string[] {
  if (typeof scope === 'string') return scope.split(' ')
  return Array.isArray(scope) ? scope.filter((word) => typeof word === 'string') : []
}

/** No answer in time, one that is not 200 or no JSON (which has no code of its own), and one without keys. */
const issuerTroubles: ReadonlySet<unknown> = new Set(['ERR_JWKS_TIMEOUT', 'ERR_JOSE_GENERIC', 'ERR_JWKS_INVALID'])

/** The issuer cannot be reached, or says something else than its keys: nothing is known about the token then. */
const isIssuerDown = (error: unknown): boolean =>
  error instanceof TypeError || (error instanceof Error && 'code' in error && issuerTroubles.has(error.code))

const issuerDown = (cause: unknown): Fault =>
  new Fault('unavailable', 'unavailable', 'The keys of the token issuer cannot be fetched.', {
    retryAfterSeconds: 5,
    cause,
  })
