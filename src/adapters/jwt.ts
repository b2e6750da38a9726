import {
  createRemoteJWKSet,
  decodeProtectedHeader,
  jwtVerify,
  type CryptoKey,
  type JWTPayload,
  type ProtectedHeaderParameters,
} from 'jose'
import { createFairBatches } from '../base/fair-batches.ts'
import { Fault, isFault, type FaultDetails } from '../base/fault.ts'
import type { Clock } from '../base/clock.ts'
import { invalidCredential } from '../domain/identity/authenticate.ts'
import type { Claims, VerifyToken } from '../domain/identity/token-reader.ts'
import { clientPrefixOf } from '../domain/identity/free-request.ts'

export type JwtSettings = {
  readonly issuer: string
  readonly audience: string
  /** The `typ` header of access tokens, if the issuer sets one. */
  readonly type: string | undefined
  readonly algorithms: readonly string[]
  readonly keys: { readonly jwksUrl: string } | { readonly secret: string }
}

const toleranceSeconds = 30

/**
 * Verifies tokens of one issuer. The algorithm list comes from the configuration, never from the token. Keys come only
 * from the configured address, whatever the headers of the token say.
 */
export function createJwtVerifier(settings: JwtSettings, clock: Clock): VerifyToken {
  const { issuer, audience, type } = settings
  const keyOf = keySource(settings)
  const algorithms = acceptedAlgorithms(settings)
  const signatures = createFairBatches<() => Promise<JWTPayload>, JWTPayload>({
    maxConcurrent: maxConcurrentSignatures,
    maxBatch: 1,
    maxWaiting,
    run: (checks) => Promise.all(checks.map((check) => check())),
    overflow: () => unavailable('Too many tokens are waiting for verification. Try again.', { retryAfterSeconds: 1 }),
  })
  return async (token, address) => {
    try {
      const options = {
        issuer,
        audience,
        clockTolerance: toleranceSeconds,
        currentDate: new Date(clock.nowMs()),
        requiredClaims: ['exp', 'sub'],
        algorithms,
        ...(type !== undefined && { typ: type }),
      }
      // Fetching keys from the issuer must not block tokens whose key is cached.
      const key = await keyOf(token)
      return claimsOf(
        await signatures.submit(clientPrefixOf(address), async () => (await jwtVerify(token, key, options)).payload),
      )
    } catch (error) {
      if (isFault(error)) throw error
      throw isIssuerDown(error) ? issuerDown(error) : invalidCredential(error)
    }
  }
}

/** Signatures are verified in Node's pool of four threads, which file access and DNS lookups also use. */
const maxConcurrentSignatures = 2
/** Per client address. */
const maxWaiting = 10_000

const acceptedAlgorithms = ({ keys, algorithms }: JwtSettings): string[] =>
  'secret' in keys ? ['HS256'] : algorithms.filter((algorithm) => !algorithm.startsWith('HS'))

function keySource(settings: JwtSettings): (token: string) => Promise<CryptoKey | Uint8Array> {
  const { keys } = settings
  if ('secret' in keys) {
    const secret = new TextEncoder().encode(keys.secret)
    return async () => secret
  }
  const remote = createRemoteJWKSet(new URL(keys.jwksUrl), {
    timeoutDuration: 5_000,
    cooldownDuration: 30_000,
    cacheMaxAge: 600_000,
  })
  const algorithms = new Set(acceptedAlgorithms(settings))
  return async (token) => {
    const header = headerOf(token)
    if (!algorithms.has(header.alg ?? '')) throw invalidCredential(new Error('the algorithm is not accepted'))
    return await remote(header)
  }
}

function headerOf(token: string): ProtectedHeaderParameters {
  try {
    return decodeProtectedHeader(token)
  } catch (error) {
    throw invalidCredential(error) // a TypeError; from other calls it means that the issuer is unreachable
  }
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

/** A space-separated string (RFC 8693) from most issuers, a list from some. */
function wordsOf(scope: unknown): string[] {
  if (typeof scope === 'string') return scope.split(' ')
  return Array.isArray(scope) ? scope.filter((word) => typeof word === 'string') : []
}

/** A timeout, a response that is not 200 or not JSON (which has no code of its own), or one without keys. */
const issuerErrorCodes: ReadonlySet<unknown> = new Set(['ERR_JWKS_TIMEOUT', 'ERR_JOSE_GENERIC', 'ERR_JWKS_INVALID'])

/** The issuer is unreachable or did not return keys, so that the token can be neither accepted nor rejected. */
const isIssuerDown = (error: unknown): boolean =>
  error instanceof TypeError || (error instanceof Error && 'code' in error && issuerErrorCodes.has(error.code))

const issuerDown = (cause: unknown): Fault =>
  unavailable('The keys of the token issuer cannot be fetched.', { retryAfterSeconds: 5, cause })

const unavailable = (message: string, details: FaultDetails): Fault =>
  new Fault('unavailable', 'unavailable', message, details)
