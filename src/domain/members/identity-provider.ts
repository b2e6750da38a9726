/** A person as the identity provider describes them. */
export type Person = {
  readonly issuer: string
  readonly subject: string
  /** In lower case; null if the identity provider did not verify it. */
  readonly email: string | null
  readonly name: string | null
  readonly groups: readonly string[]
}

/** What the browser keeps, encrypted, between the start of a sign-in and its end. */
export type PendingSignIn = {
  readonly state: string
  readonly nonce: string
  readonly codeVerifier: string
  /** The address that the identity provider sends the browser back to. */
  readonly redirectUri: string
}

/** Signs people in at an identity provider. Both operations fail with an `IdentityProviderError`. */
export type IdentityProvider = {
  /** Returns where to send the browser. */
  start(redirectUri: string): Promise<{ readonly url: string; readonly pending: PendingSignIn }>
  /** `answer`: the query that the browser brings back. Each answer is accepted once. */
  finish(answer: URLSearchParams, pending: PendingSignIn): Promise<Person>
}

/** `unreachable`: the provider did not answer. `rejected`: its answer is missing, invalid or an error. */
export class IdentityProviderError extends Error {
  readonly reason: 'unreachable' | 'rejected'

  constructor(reason: 'unreachable' | 'rejected', message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'IdentityProviderError'
    this.reason = reason
  }
}
