import {
  createRemoteJWKSet,
  decodeProtectedHeader,
  jwtVerify,
  type CryptoKey,
  type JWTPayload,
  type ProtectedHeaderParameters,
} from 'jose'
import { createFairBatches } from '../../base/fair-batches.ts'
import { Fault, isFault, type FaultDetails } from '../../base/fault.ts'
import type { Clock } from '../../base/clock.ts'
import { invalidCredential } from '../../domain/identity/authenticate.ts'
import type { Claims, VerifyToken } from '../../domain/identity/token-reader.ts'
import { clientPrefixOf } from '../../domain/identity/free-request.ts'

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
  const keyOf = keySource(settings)
  const algorithms = acceptedAlgorithms(settings)
  const signatures = createFairBatches<() => Promise<JWTPayload>, JWTPayload>({
    maxConcurrent: maxConcurrentSignatures,
    maxBatch: 1,
    maxWaiting,
    run: (checks) => Promise.all(checks.map((check) => check())),
    overflow: () => unavailable('Too many tokens wait to be checked; ask again.', { retryAfterSeconds: 1 }),
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
      // Waiting for the issuer takes no place from tokens whose key is at hand.
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

/** Signatures are checked in Node's pool of four threads, which files and name lookups need as well. */
const maxConcurrentSignatures = 2
/** Of one address. */
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
    throw invalidCredential(error) // a TypeError, which elsewhere says that the issuer cannot be reached
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
  unavailable('The keys of the token issuer cannot be fetched.', { retryAfterSeconds: 5, cause })

const unavailable = (message: string, details: FaultDetails): Fault =>
  new Fault('unavailable', 'unavailable', message, details)
