import { errors } from 'jose'

/** What the configuration requires of a token. */
export type TokenRequirements = {
  readonly issuer: string
  readonly audience: string
  readonly type: string | undefined
  readonly algorithms: readonly string[]
}

/** The header of the token, or nothing if it has none. */
type Header = { readonly alg?: unknown; readonly kid?: unknown; readonly typ?: unknown }

type Token = { readonly header: Header; readonly requirements: TokenRequirements }

/** Longer values are cut off. */
const maxShown = 200

/**
 * Says what is wrong with a token: the claim, what was expected and what the token has. Claims are compared after the
 * signature, so nobody but the issuer's own callers learns what is expected.
 */
export function problemOf(error: unknown, { header, requirements }: Token): string {
  if (error instanceof errors.JWTExpired) return `exp: the token expired at ${timeOf(error.payload.exp)}`
  if (error instanceof errors.JWTClaimValidationFailed) return claimProblem(error, { header, requirements })
  if (error instanceof errors.JWKSNoMatchingKey)
    return header.kid === undefined
      ? 'kid: the header has none, and no key of the issuer fits'
      : `kid: the issuer has no key ${shown(header.kid)} for ${shown(header.alg)}`
  if (error instanceof errors.JWKSMultipleMatchingKeys)
    return 'kid: the header has none, and the issuer has several keys'
  if (error instanceof errors.JWSSignatureVerificationFailed)
    return 'its signature does not match the key of the issuer'
  if (error instanceof errors.JOSEAlgNotAllowed) return algorithmProblem(header.alg, requirements.algorithms)
  return 'it is not a signed JWT'
}

export const algorithmProblem = (algorithm: unknown, accepted: readonly string[]): string =>
  `alg: expected ${accepted.join(' or ')}, got ${shown(algorithm)}`

function claimProblem({ claim, reason, payload }: errors.JWTClaimValidationFailed, token: Token): string {
  const { issuer, audience, type } = token.requirements
  const expected: Readonly<Record<string, string | undefined>> = { iss: issuer, aud: audience, typ: type }
  const value = claim === 'typ' ? token.header.typ : payload[claim]
  if (reason === 'missing' || value === undefined) return `${claim} is missing${suffix(expected[claim])}`
  if (claim === 'nbf' && reason === 'check_failed') return `nbf: the token is valid from ${timeOf(payload.nbf)}`
  if (expected[claim] !== undefined) return `${claim}: expected ${shown(expected[claim])}, got ${shown(value)}`
  return `${claim}: ${shown(value)} is not valid`
}

const suffix = (expected: string | undefined): string => (expected === undefined ? '' : `; expected ${shown(expected)}`)

export const timeOf = (seconds: unknown): string => {
  const date = new Date(Number(seconds) * 1000)
  return Number.isNaN(date.getTime()) ? shown(seconds) : date.toISOString()
}

/** Values of a token are quoted, because they are a caller's text. */
export function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > maxShown ? `${text.slice(0, maxShown)}…` : text
}
