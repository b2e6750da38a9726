import { Fault } from '../../base/fault.ts'
import type { KeyKind } from './key-format.ts'

export const missingCredential = (): Fault =>
  new Fault('auth', 'invalid_api_key', 'No API key was sent.', { credential: 'missing' })

const keyNames: Readonly<Record<KeyKind, string>> = {
  ak: 'a project API key (ak_…)',
  adm: 'an administrator key (adm_…)',
}

/** Names the kind of a key that this endpoint never accepts. Whether the key is valid is not checked. */
export function wrongCredential(kind: KeyKind, secret: string): Fault {
  const other = kind === 'ak' ? 'adm' : 'ak'
  const sent = secret.startsWith(`${other}_`)
    ? keyNames[other]
    : providerKey.test(secret)
      ? 'a key of a model provider'
      : ''
  if (sent === '') return invalidCredential()
  const message = `This is ${sent}; this endpoint needs ${keyNames[kind]}.`
  return new Fault('auth', 'invalid_api_key', message, { credential: 'invalid' })
}

/** The prefix of OpenAI's and Anthropic's keys. */
const providerKey = /^sk-/

/** Unknown, expired and revoked keys get the same message, so that a caller learns nothing about a key. */
export const invalidCredential = (): Fault =>
  new Fault('auth', 'invalid_api_key', 'The API key is invalid, expired or revoked.', { credential: 'invalid' })
