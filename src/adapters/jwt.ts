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
import { invalidToken, type Claims, type VerifyToken } from '../domain/identity/token-reader.ts'
import { clientPrefixOf } from '../domain/identity/free-request.ts'
import { algorithmProblem, problemOf, shown, timeOf, type TokenRequirements } from './jwt-problems.ts'

export type JwtSettings = TokenRequirements & {
  readonly claims: ClaimNames
  readonly keys: { readonly jwksUrl: string } | { readonly secret: string }
}

/** The claims that name the organization, the project and the permissions: issuers reserve different names. */
export type ClaimNames = { readonly organization: string; readonly project: string; readonly scope: string }

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
      const verify = async (): Promise<JWTPayload> => (await jwtVerify(token, key, options)).payload
      const payload = await signatures.submit(clientPrefixOf(address), verify)
      const latestIssue = clock.nowMs() / 1000 + toleranceSeconds
      if (payload.iat !== undefined && payload.iat > latestIssue)
        throw invalidToken(`iat: the token was issued in the future, at ${timeOf(payload.iat)}`)
      return claimsOf(payload, settings.claims)
    } catch (error) {
      if (isFault(error)) throw error
      if (isIssuerDown(error)) throw issuerDown(error)
      throw invalidToken(
        problemOf(error, { header: headerOf(token), requirements: { ...settings, algorithms } }),
        error,
      )
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
  const remote = remoteKeys(keys.jwksUrl)
  const algorithms = new Set(acceptedAlgorithms(settings))
  return async (token) => {
    const header = headerOf(token)
    if (!algorithms.has(header.alg ?? '')) throw invalidToken(algorithmProblem(header.alg, [...algorithms]))
    return await remote(header)
  }
}

const remoteKeys = (jwksUrl: string) =>
  createRemoteJWKSet(new URL(jwksUrl), { timeoutDuration: 5_000, cooldownDuration: 30_000, cacheMaxAge: 600_000 })

/** Fetches the keys of an issuer as the verifier does, and returns their ids and algorithms. */
export async function fetchKeys(jwksUrl: string): Promise<{ id: string | undefined; algorithm: string | undefined }[]> {
  const remote = remoteKeys(jwksUrl)
  await remote.reload()
  return (remote.jwks()?.keys ?? []).map(({ kid, alg }) => ({ id: kid, algorithm: alg }))
}

function headerOf(token: string): ProtectedHeaderParameters {
  try {
    return decodeProtectedHeader(token)
  } catch (error) {
    throw invalidToken('it is not a signed JWT', error) // a TypeError; from other calls it means that the issuer is unreachable
  }
}

function claimsOf(payload: Readonly<Record<string, unknown>>, names: ClaimNames): Claims {
  return {
    subject: textClaim(payload, 'sub'),
    organizationId: textClaim(payload, names.organization),
    projectId: textClaim(payload, names.project),
    scope: wordsOf(payload[names.scope]),
    expiresAtMs: Number(payload['exp']) * 1000, // required above
  }
}

function textClaim(payload: Readonly<Record<string, unknown>>, name: string): string {
  const value = payload[name]
  if (value === undefined) throw invalidToken(`${name} is missing`)
  if (typeof value !== 'string' || value === '') throw invalidToken(`${name}: expected a text, got ${shown(value)}`)
  return value
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
